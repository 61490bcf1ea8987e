import { statSync } from "node:fs";
import { expect } from "vitest";

/** Windows has no file modes, no `/bin/sh`, and no signals that a process can handle. */
export const isWindows: boolean = process.platform === "win32";

/** Expects the permissions of a file or folder, except on Windows. */
export function expectFileMode(path: string, mode: number): void {
  if (!isWindows) expect((statSync(path).mode & 0o777).toString(8)).toBe(mode.toString(8));
}
