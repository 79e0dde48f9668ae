package read

import (
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/tool"
)

// refuseKind refuses files whose extension says that they are not text.
func refuseKind(path string) error {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	switch ext {
	case "png", "jpg", "jpeg", "gif", "webp":
		return notYet("an image", ext, "Describe what you need to know about it to the user.")
	case "pdf":
		return notYet("a PDF document", ext, "Extract its text with a shell command such as pdftotext.")
	case "ipynb":
		return notYet("a notebook", ext, "Extract its cells with a shell command such as jq.")
	}
	if remedy := binaryRemedy(ext); remedy != "" {
		return binary(fmt.Sprintf("files with the extension .%s are not text", ext), remedy)
	}
	return nil
}

func notYet(what, ext, remedy string) error {
	return fmt.Errorf("reading %s (.%s) is not supported yet. %s", what, ext, remedy)
}

func binary(reason, remedy string) error {
	return &tool.Error{Code: codeBinary, Text: fmt.Sprintf("This file is not read: %s. %s", reason, remedy)}
}

// binaryRemedy says what to do with a file whose extension is known not to be text, or nothing.
func binaryRemedy(ext string) string {
	switch ext {
	case "zip", "tar", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "jar", "war":
		return "List or extract it with a shell command such as tar or unzip."
	case "exe", "dll", "so", "dylib", "o", "a", "obj", "lib", "bin", "class", "pyc", "pyo", "wasm":
		return "Inspect it with a shell command such as file, strings or objdump."
	case "mp3", "mp4", "m4a", "wav", "flac", "ogg", "avi", "mov", "mkv", "webm":
		return "Inspect it with a shell command such as file or ffprobe."
	case "bmp", "ico", "tiff", "tif", "heic", "avif", "psd":
		return "Convert it with a shell command such as magick."
	case "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp":
		return "Convert it to text with a shell command such as pandoc or libreoffice."
	case "ttf", "otf", "woff", "woff2", "eot":
		return "Inspect it with a shell command such as file or fc-scan."
	case "sqlite", "sqlite3", "db", "mdb":
		return "Query it with a shell command such as sqlite3."
	case "iso", "dmg", "img":
		return "Inspect it with a shell command such as file."
	}
	return ""
}
