#include "textflag.h"

// One bit for each byte of half a vector; see BITS.
DATA bitOf<>+0(SB)/8, $0x8040201008040201
DATA bitOf<>+8(SB)/8, $0x8040201008040201
GLOBL bitOf<>(SB), RODATA|NOPTR, $16

// Sets to to a bit for each byte of V20 that is all ones, in order. V31 holds bitOf.
#define BITS(to) \
	VAND  V31.B16, V20.B16, V20.B16 \
	VADDP V20.B16, V20.B16, V20.B16 \
	VADDP V20.B16, V20.B16, V20.B16 \
	VADDP V20.B16, V20.B16, V20.B16 \
	VMOV  V20.H[0], to

// Jumps to found if a byte of V20 is set. Clobbers R14 and R15.
#define IFANY(found) \
	VMOV V20.D[0], R14 \
	VMOV V20.D[1], R15 \
	ORR  R14, R15, R14 \
	CBNZ R14, found

// Compares the 16 places at R0 with the pair: V20 is all ones where both bytes fit.
#define PAIR \
	ADD   R8, R0, R10 \
	ADD   R9, R0, R11 \
	VLD1  (R10), [V16.B16] \
	VLD1  (R11), [V17.B16] \
	VORR  V1.B16, V16.B16, V16.B16 \
	VORR  V3.B16, V17.B16, V17.B16 \
	VCMEQ V0.B16, V16.B16, V16.B16 \
	VCMEQ V2.B16, V17.B16, V17.B16 \
	VAND  V16.B16, V17.B16, V20.B16

// func indexPair(b *byte, n int, p *pair) int
TEXT ·indexPair(SB), NOSPLIT, $0-32
	MOVD  b+0(FP), R1
	MOVD  n+8(FP), R2
	MOVD  p+16(FP), R3
	MOVD  0(R3), R8
	MOVD  8(R3), R9
	ADD   R1, R8
	ADD   R1, R9
	ADD   $16, R3, R4
	VLD1R (R4), [V0.B16]
	ADD   $17, R3, R4
	VLD1R (R4), [V1.B16]
	ADD   $18, R3, R4
	VLD1R (R4), [V2.B16]
	ADD   $19, R3, R4
	VLD1R (R4), [V3.B16]
	MOVD  $bitOf<>(SB), R4
	VLD1  (R4), [V31.B16]
	MOVD  $0, R0
	SUB   $16, R2, R5      // last start of a block

pairBlock:
	PAIR
	IFANY(pairFound)
	ADD $16, R0
	CMP R5, R0
	BLE pairBlock

	// Fewer than 16 places are left: a block that ends with the last place.
	CMP  R2, R0
	BGE  pairNone
	MOVD R5, R0
	PAIR
	IFANY(pairFound)

pairNone:
	MOVD $-1, R0
	MOVD R0, ret+24(FP)
	RET

pairFound:
	BITS(R14)
	RBIT R14, R14
	CLZ  R14, R14
	ADD  R14, R0
	MOVD R0, ret+24(FP)
	RET

// Looks up both halves of the 16 bytes at base+R0; out has the windows that allow them.
#define PROBE(base, lo, hi, out) \
	ADD   base, R0, R10 \
	VLD1  (R10), [V16.B16] \
	VAND  V30.B16, V16.B16, V17.B16 \
	VUSHR $4, V16.B16, V16.B16 \
	VTBL  V17.B16, [lo.B16], V17.B16 \
	VTBL  V16.B16, [hi.B16], V16.B16 \
	VAND  V16.B16, V17.B16, out.B16

// Compares the 16 places at R0 with the shuffle: V20 is all ones where a window is left.
#define SHUFFLE \
	PROBE(R8, V0, V3, V20) \
	PROBE(R9, V1, V4, V21) \
	VAND   V21.B16, V20.B16, V20.B16 \
	PROBE(R12, V2, V5, V21) \
	VCMTST V21.B16, V20.B16, V20.B16

// func indexShuffle(b *byte, n int, s *shuffle) int
TEXT ·indexShuffle(SB), NOSPLIT, $0-32
	MOVD  b+0(FP), R1
	MOVD  n+8(FP), R2
	MOVD  s+16(FP), R3
	MOVD  0(R3), R8
	MOVD  8(R3), R9
	MOVD  16(R3), R12
	ADD   R1, R8
	ADD   R1, R9
	ADD   R1, R12
	ADD   $24, R3, R4
	VLD1.P 16(R4), [V0.B16]
	VLD1.P 16(R4), [V1.B16]
	VLD1.P 16(R4), [V2.B16]
	VLD1.P 16(R4), [V3.B16]
	VLD1.P 16(R4), [V4.B16]
	VLD1.P 16(R4), [V5.B16]
	VMOVI $15, V30.B16
	MOVD  $bitOf<>(SB), R4
	VLD1  (R4), [V31.B16]
	MOVD  $0, R0
	SUB   $16, R2, R5      // last start of a block

shuffleBlock:
	SHUFFLE
	IFANY(shuffleFound)
	ADD $16, R0
	CMP R5, R0
	BLE shuffleBlock

	// Fewer than 16 places are left: a block that ends with the last place.
	CMP  R2, R0
	BGE  shuffleNone
	MOVD R5, R0
	SHUFFLE
	IFANY(shuffleFound)

shuffleNone:
	MOVD $-1, R0
	MOVD R0, ret+24(FP)
	RET

shuffleFound:
	BITS(R14)
	RBIT R14, R14
	CLZ  R14, R14
	ADD  R14, R0
	MOVD R0, ret+24(FP)
	RET
