import { createRequire } from "node:module";
import { join } from "node:path";

const SCENARIO_TIMEOUT_MS = 20_000;

/** Runs scenarios in order, and prints one outcome per line. The result `"–"` means: the peer does not offer it. */
export async function reportOutcomes(
  scenarios: Readonly<Record<string, () => Promise<void | "–">>>,
): Promise<never> {
  for (const [scenario, work] of Object.entries(scenarios)) {
    const deadline = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => deadline.reject(new Error(`hangs: no result within ${SCENARIO_TIMEOUT_MS / 1000} s`)),
      SCENARIO_TIMEOUT_MS,
    );
    try {
      if ((await Promise.race([work(), deadline.promise])) !== "–") print({ scenario, ok: true });
    } catch (error) {
      print({ scenario, ok: false, detail: error instanceof Error ? error.message : JSON.stringify(error) });
    } finally {
      clearTimeout(timer);
    }
  }
  process.exit(0);
}

function print(outcome: unknown): void {
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

/** Loads a package from the folder in which the harness has installed it. */
export function loadInstalledPackage(folder: string, name: string): unknown {
  return createRequire(join(folder, "package.json"))(name);
}
