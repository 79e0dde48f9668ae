package read

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/text/pdf"
	"adze/internal/platform/text/picture"
	"adze/internal/tool"
)

// A kind is a way of reading a file.
type kind uint8

const (
	textFile kind = iota
	imageFile
	pdfFile
	notebookFile
)

func extension(path string) string {
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
}

// kindByName returns the kind suggested by a file's name.
func kindByName(path string) kind {
	switch extension(path) {
	case "png", "jpg", "jpeg", "gif", "webp":
		return imageFile
	case "pdf":
		return pdfFile
	case "ipynb":
		return notebookFile
	}
	return textFile
}

// kindByContent returns the kind by a file's first bytes, if they are conclusive.
func kindByContent(promised kind, head []byte) kind {
	switch {
	case picture.Sniff(head) != "":
		return imageFile
	case promised != notebookFile && pdf.IsPDF(head):
		return pdfFile
	case promised == imageFile && isText(head):
		return textFile
	}
	return promised
}

// isText reports whether a file starts like text.
func isText(head []byte) bool {
	for cut := 0; cut < utf8.UTFMax && cut < len(head); cut++ { // the last character may be incomplete
		if utf8.Valid(head[:len(head)-cut]) {
			return bytes.IndexByte(head, 0) < 0
		}
	}
	return false
}

// refuseKind rejects files by an extension that is known not to be readable.
func refuseKind(path string) error {
	ext := extension(path)
	if remedy := binaryRemedy(ext); remedy != "" {
		return binary(fmt.Sprintf("files with the extension .%s are not text", ext), remedy)
	}
	return nil
}

func binary(reason, remedy string) error {
	return &tool.Error{Code: codeBinary, Text: fmt.Sprintf("This file is not read: %s. %s", reason, remedy)}
}

// binaryRemedy returns advice for a file whose extension is known not to be text, or "".
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
