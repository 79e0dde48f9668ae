package chat

func (d Dialect) CallID(id string) string { return d.callID(id) }
