/** Settings of one fuzzer. */
export interface FuzzOptions {
  /** Text that determines all inputs. */
  readonly seed: string;
  /** Number of inputs. */
  readonly count: number;
  /** Index of the first input. Default: 0. */
  readonly firstIndex?: number;
  /** Value of `performance.now()` at which the fuzzer stops early. Default: never. */
  readonly deadline?: number;
  readonly reportProgress?: (sent: number) => void;
}

/** An input that a program handled wrongly. */
export interface FuzzFinding {
  /** What the program did. */
  readonly problem: string;
  /** The input in the form of the corpus, without the parts that the problem does not need. */
  readonly input: unknown;
}

export interface FuzzResult {
  /** Name of the fuzzer. */
  readonly name: string;
  /** Number of inputs that the program received. */
  readonly sent: number;
  /** Counts of outcomes by name. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly findings: readonly FuzzFinding[];
}

/** Number of findings after which a fuzzer stops. */
export const MAX_FUZZ_FINDINGS = 10;

/** Renders the result of a fuzzer as lines of the report. */
export function renderFuzzResult({ name, sent, outcomes, findings }: FuzzResult): string {
  const counts = Object.entries(outcomes)
    .toSorted(([, a], [, b]) => b - a)
    .map(([outcome, count]) => `${outcome} ${count.toLocaleString("en-US")}`);
  return [
    `${findings.length === 0 ? "ok    " : "FAILED"} fuzz ${name}: ${sent.toLocaleString("en-US")} inputs, ${findings.length} findings`,
    `       ${counts.join(", ")}`,
    ...findings.map(
      ({ problem, input }) => `       ! ${problem}\n         ${JSON.stringify(input)?.slice(0, 1000)}`,
    ),
  ].join("\n");
}
