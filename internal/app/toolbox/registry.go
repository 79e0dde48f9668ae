package toolbox

import (
	"adze/internal/permission"
	"adze/internal/tool"
	"adze/internal/tools/bash"
	"adze/internal/tools/edit"
	"adze/internal/tools/read"
)

// Registry returns the tool registry, including substitutes for other programs' tools.
func Registry(tools []tool.Tool, gate *permission.Gate) *tool.Registry {
	r := tool.NewRegistry(tools...)
	r.Rules = func() any { return gate.Standing() }
	r.Substitutes = []tool.Substitute{
		{Tool: "Glob", Advice: "List files with Glob, such as pattern src/*.", Names: []string{"LS", "ls", "list_dir", "ListDir", "list_directory", "list_files"}},
		{Tool: bash.Name, Advice: "Run ls with Bash to see directories, too.", Names: []string{"LS", "ls", "list_dir", "ListDir", "list_directory", "list_files"}},
		{Tool: edit.Name, Advice: "Make several changes of a file with edits of Edit (old_string, new_string, replace_all).", Names: []string{"MultiEdit", "multi_edit", "multi_replace"}},
		{Tool: edit.Name, Advice: "Change files with Edit (file_path, old_string, new_string).", Names: []string{
			"str_replace", "str_replace_editor", "str_replace_based_edit_tool", "search_replace", "replace", "replace_in_file", "edit_file", "apply_patch", "apply_diff",
		}},
		{Tool: read.Name, Advice: "Read files with Read (file_path).", Names: []string{"read_file", "ReadFile", "view", "view_file", "open_file", "cat", "read_many_files", "NotebookRead", "view_image", "ReadImage"}},
		{Tool: "Write", Advice: "Write files with Write (file_path, content).", Names: []string{"write_file", "WriteFile", "write_to_file", "create_file", "save_file"}},
		{Tool: bash.Name, Advice: "Run commands with Bash (command).", Names: []string{
			"run_shell_command", "run_command", "execute_command", "run_terminal_cmd", "shell", "local_shell", "terminal", "exec",
		}},
		{Tool: "Grep", Advice: "Search the contents of files with Grep (pattern).", Names: []string{"search_file_content", "grep_search", "codebase_search", "search_files", "ripgrep", "rg", "search"}},
		{Tool: "Glob", Advice: "Find files by name with Glob (pattern).", Names: []string{"file_search", "find_files", "find_file", "glob_search"}},
		{Tool: "TaskOutput", Advice: "Look at a background command with TaskOutput (task_id).", Names: []string{"BashOutput", "bash_output"}},
		{Tool: "TaskStop", Advice: "End a background command with TaskStop (task_id).", Names: []string{"KillShell", "KillBash"}},
		{Tool: "TaskCreate", Advice: "Keep the task list with TaskCreate (subject, description) and TaskUpdate (taskId, status).", Names: []string{"TodoWrite", "TodoRead", "todo_write", "write_todos", "update_plan"}},
		{Tool: "TodoWrite", Advice: "Keep the to-do list with TodoWrite (todos).", Names: []string{"TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TodoRead", "todo_write", "write_todos", "update_plan"}},
	}
	return r
}
