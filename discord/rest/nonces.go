package rest

import (
	"slices"
	"sync"
)

// keptNonces is the number of remembered nonces. Discord delivers each message within seconds.
const keptNonces = 512

// nonces are the nonces of the latest messages.
type nonces struct {
	mu   sync.Mutex
	list []string
}

func (n *nonces) add(nonce string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.list = append(n.list, nonce); len(n.list) > keptNonces {
		n.list = slices.Delete(n.list, 0, len(n.list)-keptNonces)
	}
}

// Sent reports whether one of the latest messages of this client had a nonce.
func (c *Client) Sent(nonce string) bool {
	c.nonces.mu.Lock()
	defer c.nonces.mu.Unlock()
	return slices.Contains(c.nonces.list, nonce)
}
