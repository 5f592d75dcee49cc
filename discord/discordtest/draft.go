package discordtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// draft is the message in a request. Nil means absent.
type draft struct {
	Content         *string                `json:"content"`
	Embeds          *[]object              `json:"embeds"`
	Components      *[]object              `json:"components"`
	Flags           discordgo.MessageFlags `json:"flags"`
	Nonce           json.RawMessage        `json:"nonce"`
	EnforceNonce    bool                   `json:"enforce_nonce"`
	AllowedMentions json.RawMessage        `json:"allowed_mentions"`
	Reference       *struct {              // a reply or a forward
		Type      int    `json:"type"`
		Message   string `json:"message_id"`
		Channel   string `json:"channel_id"`
		Guild     string `json:"guild_id"`
		MustExist *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Attachments *[]described `json:"attachments"`
}

// described is an attachment that stays, or describes an uploaded part files[ID].
type described struct {
	ID          string `json:"id"`
	Description string `json:"description"`
}

// readDraft decodes a message, with numbers in their original form.
func readDraft(raw []byte) (*draft, *Plan) {
	var d draft
	if len(raw) == 0 {
		return &d, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&d); err != nil {
		return nil, invalidForm("", err.Error())
	}
	return &d, nil
}

// fill applies a draft to a message. Fields that the draft does not mention keep their values.
func (s *rest) fill(m *Message, d *draft, files []File) *Plan {
	if d.Content != nil {
		m.Content = strings.TrimSpace(*d.Content) // as Discord does
	}
	if d.Embeds != nil {
		m.setEmbeds(*d.Embeds)
	}
	if d.Components != nil {
		m.setComponents(*d.Components)
	}
	// An edit changes only SUPPRESS_EMBEDS (docs: Resources > Message > Edit Message).
	settable := discordgo.MessageFlagsSuppressEmbeds
	if m.created.IsZero() {
		settable |= discordgo.MessageFlagsSuppressNotifications
	}
	m.Flags |= d.Flags & settable
	if d.Attachments != nil {
		m.Attachments = slices.DeleteFunc(slices.Clone(m.Attachments), func(a Attachment) bool {
			for _, k := range *d.Attachments {
				if k.ID == a.ID {
					return false
				}
			}
			return true
		})
	}
	if d.Attachments != nil {
		if refusal := describe(*d.Attachments, m.Attachments, files); refusal != nil {
			return refusal
		}
	}
	for _, f := range files {
		m.Attachments = append(slices.Clip(m.Attachments), s.w.keep(m.ChannelID, f))
	}
	if m.Content == "" && len(m.Embeds) == 0 && len(m.Attachments) == 0 && m.components == nil {
		return failure(http.StatusBadRequest, 50006)
	}
	return nil
}

// describe gives uploaded files their descriptions. An ID is that of an existing attachment of the message, or n of a
// part files[n] (docs: Reference > Uploading Files).
func describe(list []described, have []Attachment, files []File) *Plan {
	for _, k := range list {
		known := slices.ContainsFunc(have, func(a Attachment) bool { return a.ID == k.ID })
		for i := range files {
			if files[i].place == k.ID {
				known, files[i].Alt = true, k.Description
			}
		}
		if !known {
			return invalidForm("attachments", "no attachment and no uploaded file has the id "+k.ID)
		}
	}
	return nil
}

// refer makes a new message a reply (docs: Resources > Message > Message Reference Structure).
func (s *rest) refer(m *Message, d *draft) *Plan {
	ref := d.Reference
	if ref == nil {
		return nil
	}
	to := s.w.message(ref.Message)
	known := to != nil && to.ChannelID == m.ChannelID
	switch {
	case ref.Type != 0:
		return invalidForm("message_reference", "The fake knows replies only")
	case ref.Message == "":
		return invalidForm("message_reference", "This field is required")
	case ref.Channel != "" && ref.Channel != m.ChannelID, ref.Guild != "" && ref.Guild != m.GuildID:
		return invalidForm("message_reference", "Cannot reply to a message of another channel")
	case !known && (ref.MustExist == nil || *ref.MustExist):
		return invalidForm("message_reference", "Unknown message")
	case known:
		m.ReplyTo, m.Type = ref.Message, discordgo.MessageTypeReply
		// Without allowed_mentions a reply notifies (Allowed Mentions Object).
		var allowed struct {
			Replied *bool `json:"replied_user"`
		}
		_ = json.Unmarshal(d.AllowedMentions, &allowed) // the contract has validated it
		m.Pinged = len(d.AllowedMentions) == 0 || allowed.Replied != nil && *allowed.Replied
	}
	return nil
}

// setEmbeds stores embeds as Discord returns them: with a type, fields with
// their inline flag, and without nulls.
func (m *Message) setEmbeds(all []object) {
	m.embeds, m.Embeds = nil, nil
	if len(all) == 0 {
		return
	}
	for _, e := range all {
		dropNulls(e)
		e["type"] = "rich"
		for _, f := range children(e, "fields") {
			defaults(f, object{"inline": false})
		}
	}
	m.embeds = encode(all)
	// The contract has validated them; without the contract, an invalid one stays empty.
	_ = json.Unmarshal(m.embeds, &m.Embeds)
}

// setComponents stores components with the IDs and defaults that Discord adds, and the buttons among them in a
// separate list.
func (m *Message) setComponents(all []object) {
	m.components, m.Buttons, m.Menus = nil, nil, nil
	if len(all) == 0 {
		return
	}
	id := 0
	walk(all, func(c object) {
		id++
		dropNulls(c)
		defaults(c, object{"id": id})
		if c["type"] == json.Number("2") {
			var b discordgo.Button
			_ = json.Unmarshal(encode(c), &b) // as with the embeds
			m.Buttons = append(m.Buttons, b)
		}
		// By default, a menu accepts one choice (components/reference#string-select).
		if c["type"] == json.Number("3") {
			defaults(c, object{"min_values": 1, "max_values": 1})
			var menu discordgo.SelectMenu
			_ = json.Unmarshal(encode(c), &menu)
			m.Menus = append(m.Menus, menu)
		}
	})
	m.components = encode(all)
}

// walk visits components and their children, in reading order.
func walk(all []object, visit func(object)) {
	for _, c := range all {
		visit(c)
		walk(children(c, "components"), visit)
	}
}

// children are the objects in a list of decoded JSON.
func children(o object, key string) (out []object) {
	all, _ := o[key].([]any)
	for _, child := range all {
		if child, is := child.(object); is {
			out = append(out, child)
		}
	}
	return out
}

func defaults(c, values object) {
	for k, v := range values {
		if c[k] == nil {
			c[k] = v
		}
	}
}

// dropNulls removes null values, recursively.
func dropNulls(v any) {
	switch v := v.(type) {
	case object:
		for k, child := range v {
			if child == nil {
				delete(v, k)
				continue
			}
			dropNulls(child)
		}
	case []any:
		for _, child := range v {
			dropNulls(child)
		}
	}
}
