/** Runs the attacker of the attack `argv[2]`. Connections of the attack stay open until this process ends. */
import { setPriority } from "node:os";
import { serveParentProcessCalls } from "../../bench/child-process-rpc.ts";
import type { AttackReport, AttackTarget } from "../attack.ts";
import { createRandomFromText } from "../seeded-random.ts";
import { loadAttack } from "./load-attack.ts";

/** An `AttackTarget` without the members that no process can pass to another one. */
export type SerializedTarget = Omit<AttackTarget, "random" | "signal"> & { readonly seed: string };

export type AttackerMethods = {
  prepareAttack(target: SerializedTarget): Promise<void>;
  runAttack(argument: { target: SerializedTarget; maxSeconds: number }): Promise<AttackReport>;
  runBoundaryAttack(): Promise<AttackReport>;
  startHostileServer(): Promise<string>;
};

const [, , attackName = ""] = process.argv;
// A remote attacker uses another machine. On this machine, the attacker yields to the server and to the probe.
setPriority(5);

serveParentProcessCalls({
  async prepareAttack(target) {
    const { prepare } = await loadAttack(attackName, "server");
    await prepare?.(createTarget(target, 60));
  },
  async runAttack({ target, maxSeconds }) {
    const { run } = await loadAttack(attackName, "server");
    const attackTarget = createTarget(target, maxSeconds);
    try {
      return await run(attackTarget);
    } catch (error) {
      // The time is up. The damage until then counts.
      if (attackTarget.signal.aborted) return { figures: { endedEarly: 1 } };
      throw error;
    }
  },
  async runBoundaryAttack() {
    return await (await loadAttack(attackName, "boundary")).run();
  },
  async startHostileServer() {
    const { startHostileServer } = await loadAttack(attackName, "client");
    return (await startHostileServer()).url;
  },
} satisfies AttackerMethods);

function createTarget({ seed, ...target }: SerializedTarget, maxSeconds: number): AttackTarget {
  return { ...target, random: createRandomFromText(seed), signal: AbortSignal.timeout(maxSeconds * 1000) };
}
