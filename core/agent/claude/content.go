package claude

import (
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/clean"
)

// lastBlock ends every message, so that the last block is never the user's.
const lastBlock = sessionfile.LastBlock

// content is a message as blocks: images first, then its text, then lastBlock.
// A command of the engine stands alone and in one line.
func content(m agent.Message) []wire.Block {
	if m.Command != "" {
		text := "/" + string(m.Command)
		if arg := strings.TrimSpace(clean.Line(m.Text)); arg != "" {
			text += " " + arg
		}
		return []wire.Block{wire.TextBlock(text)}
	}
	blocks := make([]wire.Block, 0, len(m.Images)+2)
	for _, i := range m.Images {
		blocks = append(blocks, wire.ImageBlock(i.MediaType, i.Data))
	}
	if m.Text != "" {
		blocks = append(blocks, wire.TextBlock(m.Text))
	}
	return append(blocks, wire.TextBlock(lastBlock))
}
