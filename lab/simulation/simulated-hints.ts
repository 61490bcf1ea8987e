import type { NodeHint, NodeHints } from "../../src/cluster/index.ts";
import type { Chance } from "./chance.ts";
import type { StepOwner, VirtualTime } from "./virtual-time.ts";

/** Hints between the processes of a simulation, of which many are lost. */
export class SimulatedHints {
  readonly #listeners = new Set<{ readonly owner: StepOwner; readonly hear: (hint: NodeHint) => void }>();
  readonly #time: VirtualTime;
  readonly #chance: Chance;
  readonly #lossProbability: number;

  constructor(time: VirtualTime, chance: Chance, lossProbability: number) {
    this.#time = time;
    this.#chance = chance;
    this.#lossProbability = lossProbability;
  }

  /** Connects a process. */
  connect(owner: StepOwner): NodeHints {
    return {
      isReceiving: true,
      send: (hint) => {
        for (const listener of this.#listeners)
          if (
            listener.owner !== owner &&
            listener.owner.isAlive &&
            !this.#chance.isTrue(this.#lossProbability)
          )
            this.#time.schedule(
              "hint",
              this.#chance.between(0.5, 20),
              () => listener.hear(hint),
              listener.owner,
            );
      },
      onHint: (hear) => {
        const listener = { owner, hear };
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
    };
  }
}
