package widget

// Cache keeps the lines that were drawn last, as long as nothing that they
// depend on has changed. The zero Cache is empty.
type Cache[K comparable] struct {
	key   K
	lines []string
	ok    bool
}

// Lines gives the kept lines, or draws them anew. Nobody may change them.
func (c *Cache[K]) Lines(key K, draw func() []string) []string {
	if !c.ok || c.key != key {
		c.key, c.lines, c.ok = key, draw(), true
	}
	return c.lines
}
