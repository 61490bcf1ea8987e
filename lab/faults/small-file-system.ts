import { execFileSync } from "node:child_process";
import { mkdirSync, openSync, rmSync, truncateSync, writeFileSync, writeSync, closeSync } from "node:fs";
import { join } from "node:path";

/** A real file system that is so small that a test can fill it. */
export interface SmallFileSystem {
  readonly folder: string;
  /** Writes a file until the file system is full. */
  fill(): void;
  /** Removes the file that `fill` has written. */
  free(): void;
  unmount(): void;
}

const SIZE_BYTES = 32 * 1024 * 1024;

/** Mounts an ext4 file system in an image file. Requires Linux and root. */
export function mountSmallFileSystem(parentFolder: string): SmallFileSystem {
  const image = join(parentFolder, "disk.img");
  const folder = join(parentFolder, "disk");
  const filler = join(folder, "filler");
  writeFileSync(image, "");
  truncateSync(image, SIZE_BYTES);
  mkdirSync(folder);
  execFileSync("mkfs.ext4", ["-q", "-m", "0", image]);
  execFileSync("mount", ["-o", "loop", image, folder]);
  return {
    folder,
    fill: () => fillFile(filler),
    free: () => rmSync(filler),
    unmount: () => execFileSync("umount", [folder]),
  };
}

function fillFile(path: string): void {
  const file = openSync(path, "w");
  // The last bytes need small writes.
  for (const size of [1 << 20, 1 << 12, 1]) {
    const block = Buffer.alloc(size, 1);
    try {
      for (;;) writeSync(file, block);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
  closeSync(file);
}
