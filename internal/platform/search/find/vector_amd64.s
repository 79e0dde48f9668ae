#include "textflag.h"

// Only VEX encodings are used: a legacy SSE instruction after a 256-bit write costs a state change
// that makes dense hits an order of magnitude slower.

// func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL subleaf+4(FP), CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL BX, ebx+12(FP)
	MOVL CX, ecx+16(FP)
	MOVL DX, edx+20(FP)
	RET

// func xgetbv() uint32
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, ret+0(FP)
	RET

// Compares the 32 places at AX+at with the pair: out is all ones where both bytes fit.
#define PAIR(at, out, tmp) \
	VPOR     at(R8)(AX*1), Y1, out \
	VPOR     at(R9)(AX*1), Y3, tmp \
	VPCMPEQB Y0, out, out \
	VPCMPEQB Y2, tmp, tmp \
	VPAND    tmp, out, out

// func indexPair(b *byte, n int, p *pair) int
TEXT ·indexPair(SB), NOSPLIT, $0-32
	MOVQ         b+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         p+16(FP), DX
	MOVQ         0(DX), R8
	MOVQ         8(DX), R9
	ADDQ         SI, R8
	ADDQ         SI, R9
	VPBROADCASTB 16(DX), Y0
	VPBROADCASTB 17(DX), Y1
	VPBROADCASTB 18(DX), Y2
	VPBROADCASTB 19(DX), Y3
	XORQ         AX, AX
	LEAQ         -64(CX), R11      // last start of a double block
	LEAQ         -32(CX), R12      // last start of a block

pairDouble:
	CMPQ      AX, R11
	JGT       pairBlock
	PAIR(0, Y4, Y5)
	PAIR(32, Y6, Y7)
	VPOR      Y4, Y6, Y8
	VPTEST    Y8, Y8
	JNZ       pairWhich
	ADDQ      $64, AX
	JMP       pairDouble

pairWhich:
	VPMOVMSKB Y4, R10
	TESTL     R10, R10
	JNZ       pairFound
	VPMOVMSKB Y6, R10
	ADDQ      $32, AX
	JMP       pairFound

	// At most 63 places are left: a block at AX, then one that ends with the last place.
pairBlock:
	CMPQ      AX, R12
	JGT       pairLast
	PAIR(0, Y4, Y5)
	VPMOVMSKB Y4, R10
	TESTL     R10, R10
	JNZ       pairFound
	ADDQ      $32, AX

pairLast:
	CMPQ      AX, CX
	JGE       pairNone
	MOVQ      R12, AX
	PAIR(0, Y4, Y5)
	VPMOVMSKB Y4, R10
	TESTL     R10, R10
	JNZ       pairFound

pairNone:
	VZEROUPPER
	MOVQ $-1, ret+24(FP)
	RET

pairFound:
	VZEROUPPER
	BSFL R10, R10
	ADDQ R10, AX
	MOVQ AX, ret+24(FP)
	RET

// Looks up both halves of the 32 bytes at base+AX; out has the windows that allow them.
#define PROBE(base, lo, hi, out, tmp) \
	VMOVDQU (base)(AX*1), tmp \
	VPAND   Y6, tmp, out \
	VPSRLW  $4, tmp, tmp \
	VPAND   Y6, tmp, tmp \
	VPSHUFB out, lo, out \
	VPSHUFB tmp, hi, tmp \
	VPAND   tmp, out, out

// Sets R10 to the places of the block at AX that fit: zero bits where a window is left.
#define SHUFFLE \
	PROBE(R8, Y0, Y3, Y8, Y9) \
	PROBE(R9, Y1, Y4, Y10, Y11) \
	VPAND     Y10, Y8, Y8 \
	PROBE(R13, Y2, Y5, Y10, Y11) \
	VPAND     Y10, Y8, Y8 \
	VPCMPEQB  Y7, Y8, Y8 \
	VPMOVMSKB Y8, R10 \
	XORL      $-1, R10

// func indexShuffle(b *byte, n int, s *shuffle) int
TEXT ·indexShuffle(SB), NOSPLIT, $0-32
	MOVQ           b+0(FP), SI
	MOVQ           n+8(FP), CX
	MOVQ           s+16(FP), DX
	MOVQ           0(DX), R8
	MOVQ           8(DX), R9
	MOVQ           16(DX), R13
	ADDQ           SI, R8
	ADDQ           SI, R9
	ADDQ           SI, R13
	VBROADCASTI128 24(DX), Y0
	VBROADCASTI128 40(DX), Y1
	VBROADCASTI128 56(DX), Y2
	VBROADCASTI128 72(DX), Y3
	VBROADCASTI128 88(DX), Y4
	VBROADCASTI128 104(DX), Y5
	VPXOR          Y7, Y7, Y7
	MOVL           $0x0f0f0f0f, R10
	VMOVD          R10, X6
	VPBROADCASTD   X6, Y6
	XORQ           AX, AX
	LEAQ           -32(CX), R12      // last start of a block

shuffleBlock:
	SHUFFLE
	JNZ  shuffleFound
	ADDQ $32, AX
	CMPQ AX, R12
	JLE  shuffleBlock

	// Fewer than 32 places are left: a block that ends with the last place.
	CMPQ AX, CX
	JGE  shuffleNone
	MOVQ R12, AX
	SHUFFLE
	JNZ  shuffleFound

shuffleNone:
	VZEROUPPER
	MOVQ $-1, ret+24(FP)
	RET

shuffleFound:
	VZEROUPPER
	BSFL R10, R10
	ADDQ R10, AX
	MOVQ AX, ret+24(FP)
	RET
