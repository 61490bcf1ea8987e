import type { TestPostgresServer } from "../../src/stores/postgres/postgres-server.fixture.ts";
import type { ChaosNode, ChaosNodeOptions } from "./systems/chaos-system.ts";

/** Name of a figure of a report, with its unit, for example `lagP99Ms`. */
export type FigureName = string;

/** A fault that is injected into a running cluster, and the promise that must hold. One file in `faults/` each. */
export interface ChaosFault {
  /** What is done. */
  readonly title: string;
  /** What must hold. */
  readonly promise: string;
  /** Maximum values of figures. A figure above its bar fails the run. */
  readonly bars?: Readonly<Record<FigureName, number>>;
  /** Time in seconds after which the run is given up as hanging. */
  readonly maxSeconds: number;
  /** Whether the fault also runs on other cluster implementations, which have no bars. Default: false. */
  readonly isComparison?: boolean;
  inject(context: ChaosContext): Promise<void>;
}

/** What a fault works with. The runner ends all processes and deletes the database after the fault. */
export interface ChaosContext {
  readonly postgres: TestPostgresServer;
  /** URL of the empty database of this fault. */
  readonly database: string;
  /** True for the numbers of repetitions that the published figures require. */
  readonly isFullRun: boolean;
  /** True if the events of the system have sequence numbers, so that each event can be compared with the log. */
  readonly hasEventIds: boolean;
  readonly startNode: (options?: ChaosNodeOptions) => Promise<ChaosNode>;
  readonly addFigure: (name: FigureName, value: number) => void;
  readonly addProblem: (problem: string) => void;
  /** Registers a function that runs after the fault, also after a failure. */
  readonly onEnd: (cleanUp: () => void | Promise<void>) => void;
}
