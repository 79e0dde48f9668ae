package bedrock

type Decoder struct{ decoder }

func (d *Decoder) Unwrap(payload []byte) ([]byte, error) { return d.unwrap(payload) }
