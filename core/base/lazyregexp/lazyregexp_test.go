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
	if got := words().FindString("Aab"); got != "a" || words() != words() {
		t.Errorf("in Aab it finds %q; each use is of the same pattern: %t", got, words() == words())
	}
}
