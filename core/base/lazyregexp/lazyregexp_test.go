package lazyregexp

import "testing"

func TestAPatternIsReadAtItsFirstUseAndThenStays(t *testing.T) {
	bad := New("(")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a pattern that is none is used")
			}
		}()
		bad()
	}()
	words := New("a|ab")
	first, second := words(), words()
	if got := first.FindString("Aab"); got != "a" || first != second {
		t.Errorf("in Aab it finds %q; both uses are of the same pattern: %t", got, first == second)
	}
}
