package keys

// The actions for composing a message.
const (
	PasteImage    Action = "chat:imagePaste"
	PopupPrevious Action = "autocomplete:previous"
	PopupNext     Action = "autocomplete:next"
	PopupDismiss  Action = "autocomplete:dismiss"
	TakeBack      Action = "chat:takeBack"
)

// composeEntries returns the actions for composing a message, with their keys.
func composeEntries() []entry {
	return []entry{
		{Chat, PasteImage, "ctrl+v", "insert the image on the clipboard"},
		{Autocomplete, PopupPrevious, "up, ctrl+p", "choose the suggestion above"},
		{Autocomplete, PopupNext, "down, ctrl+n", "choose the suggestion below"},
		{Autocomplete, PopupDismiss, "escape", "show no suggestions"},
		{Queue, TakeBack, "up", "withdraw the last waiting message for editing"},
	}
}
