package fake

import "encoding/json"

// setEmbeds stores embeds as Discord hands them back: with a type, fields with
// their inline flag, and nothing that is null.
func (m *Message) setEmbeds(all []object) {
	m.embeds, m.Embeds = nil, nil
	if len(all) == 0 {
		return
	}
	for _, e := range all {
		dropNulls(e)
		e["type"] = "rich"
		fields, _ := e["fields"].([]any)
		for _, f := range fields {
			if f, isField := f.(object); isField && f["inline"] == nil {
				f["inline"] = false
			}
		}
	}
	m.embeds = encode(all)
	// The contract has accepted them; without it a strange one stays empty.
	_ = json.Unmarshal(m.embeds, &m.Embeds)
}

// setComponents stores components with the ids and defaults that Discord adds,
// and the buttons among them once more by themselves.
func (m *Message) setComponents(all []object) {
	m.components, m.Buttons = nil, nil
	if len(all) == 0 {
		return
	}
	id := 0
	for _, c := range all {
		m.complete(c, &id)
	}
	m.components = encode(all)
}

func (m *Message) complete(c object, id *int) {
	*id++
	dropNulls(c)
	if c["id"] == nil || number(c["id"]) == 0 {
		c["id"] = *id
	}
	switch kind := number(c["type"]); {
	case kind == 2:
		m.Buttons = append(m.Buttons, button(c))
	case kind == 3 || kind >= 5 && kind <= 8:
		defaults(c, object{"min_values": 1, "max_values": 1})
	case kind == 17:
		if c["accent_color"] == nil {
			c["accent_color"] = nil // required, and may be null
		}
		defaults(c, object{"spoiler": false})
	}
	children, _ := c["components"].([]any)
	for _, child := range append(children, c["accessory"]) {
		if child, isComponent := child.(object); isComponent {
			m.complete(child, id)
		}
	}
}

func button(c object) Button {
	b := Button{Style: number(c["style"])}
	b.CustomID, _ = c["custom_id"].(string)
	b.Label, _ = c["label"].(string)
	b.URL, _ = c["url"].(string)
	b.Disabled, _ = c["disabled"].(bool)
	return b
}

func defaults(c, values object) {
	for k, v := range values {
		if c[k] == nil {
			c[k] = v
		}
	}
}

// number reads an integer of decoded JSON; 0 for what is none.
func number(v any) int {
	if n, isNumber := v.(json.Number); isNumber {
		i, _ := n.Int64()
		return int(i)
	}
	i, _ := v.(int)
	return i
}

// dropNulls removes what a client said with null instead of leaving it out, all
// the way down.
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
