// Package prompt writes the text the model receives in addition to the conversation: the system
// prompt, the content before the first message (instructions, memory index, date),
// announcements of later changes, and the tool descriptions in the language of the prompt. It
// keeps the request prefix stable across the processes of a session, announcing changes in
// messages, and detects changes that make a provider lose its cache.
//
// A conversation has one [Prompt], one [Announcer], one [ToolTexts] and one [Watch];
// conversations share nothing.
package prompt
