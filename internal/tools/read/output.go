package read

// An Output is the structured result, in the shape hooks and clients know. File is one of the types
// below, by Type. Pictures and documents themselves are in the message and not here.
type Output struct {
	Type string `json:"type"`
	File any    `json:"file"`
}

type (
	// OutputFile is part of a text file; type text.
	OutputFile struct {
		FilePath   string `json:"filePath"`
		Content    string `json:"content"`
		NumLines   int    `json:"numLines"`
		StartLine  int    `json:"startLine"`
		TotalLines int    `json:"totalLines"`
	}

	// imageOutput is a picture; type image.
	imageOutput struct {
		FilePath     string     `json:"filePath"`
		MediaType    string     `json:"type"`
		OriginalSize int        `json:"originalSize"`
		Dimensions   dimensions `json:"dimensions"`
	}
	dimensions struct {
		OriginalWidth  int `json:"originalWidth"`
		OriginalHeight int `json:"originalHeight"`
		DisplayWidth   int `json:"displayWidth"`
		DisplayHeight  int `json:"displayHeight"`
	}

	// notebookOutput is a notebook; type notebook.
	notebookOutput struct {
		FilePath string       `json:"filePath"`
		Cells    []cellOutput `json:"cells"`
	}
	cellOutput struct {
		ID     string `json:"cell_id"`
		Type   string `json:"cellType"`
		Source string `json:"source"`
	}

	// pdfOutput is a document, or some of its pages: type pdf, or parts if they came as pictures.
	pdfOutput struct {
		FilePath     string `json:"filePath"`
		OriginalSize int    `json:"originalSize"`
		FirstPage    int    `json:"firstPage"`
		Count        int    `json:"count"`
		TotalPages   int    `json:"totalPages"`
	}

	// unchangedFile is a file the model has seen; type file_unchanged.
	unchangedFile struct {
		FilePath string `json:"filePath"`
	}
)
