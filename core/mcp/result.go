package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
)

// maxResult is how much of a result the model gets, in characters.
const maxResult = 100_000

// result converts a tool's result to a text for the model.
func result(r *sdk.CallToolResult) agent.ToolResult {
	if r.NeedsInput() {
		return failed(textAsksBack)
	}
	var parts []string
	for _, c := range r.Content {
		if text := contentText(c); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		if text, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, clean.Text(string(text)))
		}
	}
	text := strings.Join(parts, "\n")
	if short := clean.Cut(text, maxResult); short != text {
		text = short + "\n" + fmt.Sprintf(textResultCut, maxResult)
	}
	if text == "" {
		text = textEmptyResult
	}
	return agent.ToolResult{Text: text, IsError: r.IsError}
}

// contentText returns the text of one part of a result. A picture, a sound or a file is
// named but not shown; a link is not followed.
func contentText(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return clean.Text(c.Text)
	case *sdk.ImageContent:
		return fmt.Sprintf(textBinary, "image", shown(c.MIMEType), words.Bytes(int64(len(c.Data))))
	case *sdk.AudioContent:
		return fmt.Sprintf(textBinary, "sound", shown(c.MIMEType), words.Bytes(int64(len(c.Data))))
	case *sdk.ResourceLink:
		return fmt.Sprintf(textLink, clean.Cut(clean.Line(c.Name), 200), clean.Cut(clean.Line(c.URI), 2_000))
	case *sdk.EmbeddedResource:
		switch r := c.Resource; {
		case r == nil:
			return ""
		case r.Text != "":
			return clean.Text(r.Text)
		default:
			return fmt.Sprintf(textBinary, "file", shown(r.MIMEType), words.Bytes(int64(len(r.Blob))))
		}
	}
	return textUnknownContent
}

func failed(format string, args ...any) agent.ToolResult {
	return agent.ToolResult{Text: clean.Text(fmt.Sprintf(format, args...)), IsError: true}
}
