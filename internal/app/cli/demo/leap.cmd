@echo off
rem leap.cmd YEAR says whether YEAR is a leap year.
set /a by4 = %1 %% 4, by100 = %1 %% 100, by400 = %1 %% 400
set answer=common
if %by4% == 0 set answer=leap
echo %answer%
