package wire

// Block is one block of a message that the host sends: TextBlock and ImageBlock
// make them.
type Block interface{ block() }

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type imageBlock struct {
	Type   string      `json:"type"`
	Source imageSource `json:"source"`
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // base64 in JSON
}

func (textBlock) block()  {}
func (imageBlock) block() {}

// TextBlock is a text. In the last text block of a message the CLI obeys
// "@path" and "/word"; the caller sees to what that one is.
func TextBlock(text string) Block { return textBlock{Type: BlockText, Text: text} }

// ImageBlock is an image in its own format, such as "image/png".
func ImageBlock(mediaType string, data []byte) Block {
	return imageBlock{Type: BlockImage, Source: imageSource{Type: "base64", MediaType: mediaType, Data: data}}
}

type userLine struct {
	Type            string      `json:"type"`
	Message         userMessage `json:"message"`
	ParentToolUseID *string     `json:"parent_tool_use_id"`
	SessionID       string      `json:"session_id"`
	UUID            string      `json:"uuid,omitempty"`
}

type userMessage struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// UserMessage is a line for Send: a message of the user. The uuid comes back
// with its echo, where the CLI was told to echo; it may be empty. It must be
// fresh: a message whose uuid the session has seen is echoed, and then nothing
// is done with it, so that its turn never comes.
func UserMessage(uuid string, blocks []Block) any {
	if blocks == nil {
		blocks = []Block{} // null would end the CLI
	}
	return userLine{Type: TypeUser, Message: userMessage{Role: "user", Content: blocks}, UUID: uuid}
}
