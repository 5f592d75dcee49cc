package discordtest

import (
	"slices"

	"github.com/bwmarrin/discordgo"
)

// Choose makes a choice in a menu of the message.
func (p *Person) Choose(messageID, customID, value string) Interaction {
	st, _ := p.w.look()
	m := st.Message(messageID)
	there := m != nil && m.Deleted.IsZero() && slices.ContainsFunc(m.Menus, func(menu discordgo.SelectMenu) bool {
		return menu.CustomID == customID && slices.ContainsFunc(menu.Options, func(o discordgo.SelectMenuOption) bool { return o.Value == value })
	})
	if !there {
		p.w.violate("the story chooses %q in %q on message %s, which has no such choice", value, customID, messageID)
	}
	return p.ForgeChoice(messageID, customID, value)
}

// ForgeChoice makes a choice whether or not it exists, as an old client can.
func (p *Person) ForgeChoice(messageID, customID, value string) Interaction {
	data := object{"custom_id": customID, "component_type": 3, "values": []string{value}}
	return p.interact(Interaction{Type: discordgo.InteractionMessageComponent, MessageID: messageID}, data)
}

// Field is one field of a submitted window.
type Field struct{ Name, Value string }

// Submit submits the window opened by an interaction, with these fields changed. It can be called twice, like a
// client that got no answer.
func (p *Person) Submit(opened string, fields ...Field) Interaction {
	st, _ := p.w.look()
	at := slices.IndexFunc(st.Interactions, func(i Interaction) bool { return i.ID == opened })
	if at < 0 || st.Interactions[at].Modal == nil {
		p.w.violate("the story submits a window that interaction %s did not open", opened)
		return Interaction{}
	}
	i := st.Interactions[at]
	rows := make([]object, 0, len(i.Modal.Rows))
	for _, row := range i.Modal.Rows {
		for _, f := range row.Fields {
			value := f.Value
			for _, given := range fields {
				if given.Name == f.CustomID {
					value = given.Value
				}
			}
			rows = append(rows, object{"type": 1, "components": []object{{"type": 4, "custom_id": f.CustomID, "value": value}}})
		}
	}
	data := object{"custom_id": i.Modal.CustomID, "components": rows}
	return p.interact(Interaction{Type: discordgo.InteractionModalSubmit, MessageID: i.MessageID}, data)
}

// Type enters text in a field of a command without sending the command.
func (p *Person) Type(name, option, text string) Interaction {
	p.w.mu.Lock()
	id := p.w.next()
	p.w.mu.Unlock()
	data := object{"id": id, "name": name, "type": 1, "options": []object{{"name": option, "type": 3, "value": text, "focused": true}}}
	return p.interact(Interaction{Type: discordgo.InteractionApplicationCommandAutocomplete}, data)
}

// Menu uses a command of a message's own menu.
func (p *Person) Menu(name, messageID string) Interaction {
	st, _ := p.w.look()
	m := st.Message(messageID)
	if m == nil || !slices.ContainsFunc(st.Commands, func(c Command) bool { return c.Name == name && c.Kind == discordgo.MessageApplicationCommand }) {
		p.w.violate("the story uses %q on message %s: one of them is not there", name, messageID)
		return Interaction{}
	}
	p.w.mu.Lock()
	data := object{
		"id": p.w.next(), "name": name, "type": 3, "target_id": messageID,
		"resolved": object{"messages": object{messageID: p.w.wireMessage(m)}},
	}
	p.w.mu.Unlock()
	return p.interact(Interaction{Type: discordgo.InteractionApplicationCommand}, data)
}
