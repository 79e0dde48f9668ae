package amount

import (
	"testing"
	"time"
)

func TestAmounts(t *testing.T) {
	for got, want := range map[string]string{
		Of(0, "memory", "memories"): "0 memories", Of(1, "memory", "memories"): "1 memory", Of(2, "file", "files"): "2 files",
		Grouped(0): "0", Grouped(999): "999", Grouped(1000): "1,000", Grouped(1234567): "1,234,567",
		Age(59 * time.Second): "just now", Age(61 * time.Second): "1m ago", Age(47 * time.Hour): "47h ago", Age(49 * time.Hour): "2d ago",
		USD(0): "$0.00", USD(0.0049): "$0.0049", USD(0.01): "$0.01", USD(12.345): "$12.35",
		Bytes(1023): "1023 bytes", Bytes(1536): "1.5 KB", Bytes(10 << 20): "10.0 MB",
		Seconds(1234 * time.Millisecond): "1.2s",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
