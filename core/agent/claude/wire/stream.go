package wire

import (
	"encoding/json"
	"time"
)

// Kinds of stream events, and of the deltas of content blocks.
const (
	MessageStart = "message_start"
	BlockStart   = "content_block_start"
	BlockDelta   = "content_block_delta"
	BlockStop    = "content_block_stop"
	MessageDelta = "message_delta"
	MessageStop  = "message_stop"

	DeltaText      = "text_delta"
	DeltaThinking  = "thinking_delta"
	DeltaInput     = "input_json_delta"
	DeltaSignature = "signature_delta"
)

// Stream is one event of the model's answer while it comes in. Only the fields
// of its Kind are set.
type Stream struct {
	Kind            string
	SessionID       string
	UUID            string
	ParentToolUseID string

	// MessageID and Model come with MessageStart, which is the only event that
	// names its message; TTFT, the time to the first token, with the first.
	MessageID string
	Model     string
	TTFT      time.Duration

	// Index numbers the block of BlockStart, BlockDelta and BlockStop; Block is
	// the block that starts.
	Index int
	Block Content

	// Delta is the kind of a BlockDelta, and one of these is its piece.
	Delta       string
	Text        string
	Thinking    string
	PartialJSON string // of a tool's input

	// StopReason comes with MessageDelta; Usage with it and with MessageStart.
	StopReason string
	Usage      Usage
}

// streamLine is the shape of a stream_event line. Message and block are read
// only where they occur: most lines are deltas.
type streamLine struct {
	SessionID       string  `json:"session_id"`
	UUID            string  `json:"uuid"`
	ParentToolUseID string  `json:"parent_tool_use_id"`
	TTFTMS          float64 `json:"ttft_ms"`
	Event           struct {
		Type    string          `json:"type"`
		Index   int             `json:"index"`
		Message json.RawMessage `json:"message"`
		Block   json.RawMessage `json:"content_block"`
		Usage   *Usage          `json:"usage"`
		Delta   struct {
			Type        string `json:"type"`
			Text        string `json:"text"`
			Thinking    string `json:"thinking"`
			PartialJSON string `json:"partial_json"`
			StopReason  string `json:"stop_reason"`
		} `json:"delta"`
	} `json:"event"`
}

// Stream reads a stream_event line.
func (l Line) Stream() (Stream, error) {
	var v streamLine
	if err := l.decode(&v, TypeStream); err != nil {
		return Stream{}, err
	}
	e := v.Event
	s := Stream{
		Kind: e.Type, SessionID: v.SessionID, UUID: v.UUID, ParentToolUseID: v.ParentToolUseID,
		TTFT: millis(v.TTFTMS), Index: e.Index, Delta: e.Delta.Type, Text: e.Delta.Text,
		Thinking: e.Delta.Thinking, PartialJSON: e.Delta.PartialJSON, StopReason: e.Delta.StopReason,
	}
	if e.Usage != nil {
		s.Usage = *e.Usage
	}
	if e.Message != nil {
		var m message
		if err := tolerant(e.Message, &m); err != nil {
			return s, err
		}
		s.MessageID, s.Model, s.Usage = m.ID, m.Model, m.Usage
	}
	if e.Block != nil {
		if err := tolerant(e.Block, &s.Block); err != nil {
			return s, err
		}
	}
	return s, nil
}
