//go:build !linux

package filehistory

import "os"

func fsync(file *os.File) error { return file.Sync() }

func beginSync(*os.File, int64, int64) {}
