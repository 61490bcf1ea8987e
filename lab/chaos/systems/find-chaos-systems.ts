import { installPythonPackages } from "../../interop/install-programs.ts";
import { A2A_PYTHON_REQUIREMENTS, createA2APythonSystem } from "./a2a-python-system.ts";
import type { ChaosSystem } from "./chaos-system.ts";
import { COLLOQUY_SYSTEM } from "./colloquy-system.ts";

/** Which systems a run needs. */
export interface ChaosSystemQuery {
  /** Text in the name of the systems. */
  readonly nameContains: string;
  /** Whether the run contains faults for systems other than Colloquy. */
  readonly isComparison: boolean;
  readonly report: (line: string) => void;
}

/**
 * Returns the systems whose name contains a text, and installs what they need. Reports why a system cannot run on this
 * machine.
 */
export async function findChaosSystems({
  nameContains,
  isComparison,
  report,
}: ChaosSystemQuery): Promise<ChaosSystem[]> {
  const systems: ChaosSystem[] = [];
  if (COLLOQUY_SYSTEM.name.includes(nameContains)) systems.push(COLLOQUY_SYSTEM);
  if (isComparison && "a2a-python".includes(nameContains)) {
    const python = await installPythonPackages("chaos-a2a-python", A2A_PYTHON_REQUIREMENTS, report);
    if ("program" in python) systems.push(createA2APythonSystem(python.program));
    else report(`a2a-python is skipped: ${python.reason}`);
  }
  return systems;
}
