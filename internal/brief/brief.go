// Package brief writes what the model is told beside the conversation: the system prompt, what goes before
// the first message (instructions, the index of memories, the date), announcements of what changes later,
// and the descriptions of tools in the language of the prompt. It also watches what changes make a provider
// lose its cache, and keeps what requests begin with the same, over the processes of a session: what changes is told
// in a message.
//
// A conversation has one [Prompt], one [Announcer], one [ToolTexts] and one [Watch]; nothing is shared between
// conversations. The caller finds out what there is to tell; how it is encoded is left to the provider.
package brief
