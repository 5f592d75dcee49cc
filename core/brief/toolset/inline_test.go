package toolset

import "testing"

func TestAFieldOfACardIsInlineUnlessTheAgentSaysOtherwise(t *testing.T) {
	for said, want := range map[any]bool{nil: true, true: true, false: false} {
		field := map[string]any{"name": "n", "value": "v"}
		if said != nil {
			field["inline"] = said
		}
		card := cardOf(arguments{"fields": []any{field}})
		if len(card.Fields) != 1 || card.Fields[0].Inline != want {
			t.Errorf("inline %v: %+v", said, card.Fields)
		}
	}
}
