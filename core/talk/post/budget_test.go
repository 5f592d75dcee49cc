package post

import "testing"

func TestTheFormOfThePingBudgetHasEachValueInItsField(t *testing.T) {
	form, ok := FormOf(BudgetType, "5.90")
	got := map[string]string{}
	for _, f := range form.Fields {
		got[f.Name] = f.Value
	}
	if !ok || got[FieldCapacity] != "5" || got[FieldRefill] != "90" {
		t.Errorf("%v; want a capacity of 5 and 90 minutes", got)
	}
}
