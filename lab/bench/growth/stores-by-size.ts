import type { BenchmarkSettings } from "../settings.ts";
import type { SystemName } from "../systems-under-test.ts";

/** A system under test and the number of tasks in its store. */
export interface StoreBySize {
  readonly name: SystemName;
  readonly storedTaskCount: number;
}

const STORES_BY_SIZE: readonly StoreBySize[] = [
  { name: "colloquy-sqlite", storedTaskCount: 0 },
  { name: "colloquy-sqlite-100k", storedTaskCount: 100_000 },
  { name: "colloquy-sqlite-1m", storedTaskCount: 1_000_000 },
];

/** Returns the stores in ascending order of size. A quick run omits the largest store. */
export function selectStoresBySize({ quick }: BenchmarkSettings): readonly StoreBySize[] {
  return quick ? STORES_BY_SIZE.slice(0, -1) : STORES_BY_SIZE;
}
