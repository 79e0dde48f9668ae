@echo off
rem test.cmd checks leap.cmd against years whose answer is known.
cd /d "%~dp0"
set failed=0
call :check 2024 leap
call :check 2023 common
call :check 1900 common
call :check 2000 leap
exit /b %failed%

:check
for /f %%a in ('.\leap.cmd %1') do set got=%%a
if %got% == %2 (
	echo ok    %1 is a %2 year
) else (
	echo FAIL  %1 should be a %2 year, leap.cmd says %got%
	set failed=1
)
exit /b
