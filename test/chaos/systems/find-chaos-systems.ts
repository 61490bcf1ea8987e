import type { ChaosSystem } from "./chaos-system.ts";
import { COLLOQUY_SYSTEM } from "./colloquy-system.ts";

/** Returns the systems whose name contains a text. Reports why a system cannot run on this machine. */
export async function findChaosSystems(
  nameContains: string,
  report: (line: string) => void,
): Promise<ChaosSystem[]> {
  void report;
  return [COLLOQUY_SYSTEM].filter(({ name }) => name.includes(nameContains));
}
