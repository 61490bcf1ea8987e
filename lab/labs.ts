/** A suite or tool that `npm run lab -- NAME` runs. */
export interface Lab {
  readonly name: string;
  readonly group: (typeof GROUPS)[number];
  readonly summary: string;
  /** Duration on two quiet cores. */
  readonly time: string;
  /** What the machine must have, apart from Node.js and the packages of package.json. */
  readonly needs?: string;
  /** True if the lab runs the built package in `dist/`. */
  readonly usesBuild?: boolean;
  /** Program that runs without a subcommand, relative to the repository, with its first arguments. */
  readonly run: readonly [program: string, ...args: string[]];
  /** Programs that run if the first argument is their name. */
  readonly subcommands?: Readonly<Record<string, readonly [program: string, ...args: string[]]>>;
}

export const GROUPS = ["Measure", "Break", "Conform", "Platforms", "Publish"] as const;

const VITEST = "node_modules/vitest/vitest.mjs";
const CHROMIUM = "Chromium";

/** All labs. Each one has a folder with the same name, and `main.ts` is its program. */
export const LABS: readonly Lab[] = [
  {
    name: "bench",
    group: "Measure",
    summary: "CPU time, latency, and memory of servers relative to bare node:http and to peers",
    time: "6 min; --quick 1 min; --against REF 12 min",
    run: ["lab/bench/main.ts"],
    subcommands: {
      lines: ["lab/bench/lines.ts"],
      sqlite: ["lab/bench/sqlite-cost.ts"],
      "start-up": ["lab/bench/start-up.ts"],
    },
  },
  {
    name: "timings",
    group: "Measure",
    summary: "Tests with limits on time, CPU time, and memory",
    time: "3 min",
    needs: "a quiet machine",
    run: [VITEST, "run", "--config", "lab/vitest.config.ts", "--project", "timings"],
  },
  {
    name: "datasets",
    group: "Measure",
    summary: "The card protocol on complete datasets (docs/card-figures.md)",
    time: "2 min",
    needs: "COLLOQUY_DATA, the folder of the datasets",
    run: [VITEST, "run", "--config", "lab/vitest.config.ts", "--project", "datasets"],
  },
  {
    name: "seed-004",
    group: "Conform",
    summary: "The sections of the card specification, one by one",
    time: "15 s",
    needs: "python3 for the two scripts of the specification",
    run: ["lab/seed-004/main.ts"],
  },
  {
    name: "inspect",
    group: "Conform",
    summary: "The export of a card run, read by Inspect AI",
    time: "1 min",
    needs: "Python 3.10",
    run: ["lab/inspect/main.ts"],
  },
  {
    name: "green-agent",
    group: "Conform",
    summary: "A benchmark agent, tested by the template of AgentBeats",
    time: "1 min",
    needs: "Python 3.10; --template PATH of RDI-Foundation/green-agent-template",
    run: ["lab/green-agent/main.ts"],
  },
  {
    name: "real-model",
    group: "Conform",
    summary:
      "SmolLM2-135M without a key: an ADK agent, an AI SDK agent, and the card methods (docs/card-figures.md)",
    time: "35 min; --problems 2 5 min",
    needs: "Python 3.10 and 1 GB of disk for the model and its runtime; COLLOQUY_DATA for HotpotQA",
    usesBuild: true,
    run: ["lab/real-model/main.ts"],
  },
  {
    name: "prompt-cost",
    group: "Measure",
    summary: "Prompt tokens of the card roles, without a model (docs/card-figures.md)",
    time: "1 min",
    needs: "--data FOLDER with GSM8K, or the 20 problems in the package",
    run: ["lab/prompt-cost/main.ts"],
  },
  {
    name: "documents",
    group: "Conform",
    summary: "The code of all pages, the examples, and the types of the templates",
    time: "1 min",
    run: [VITEST, "run", "--config", "lab/vitest.config.ts", "--project", "documents"],
  },
  {
    name: "pages",
    group: "Conform",
    summary: "Pages of records in a browser, accessibility of all pages, and hostile content",
    time: "1 min",
    needs: CHROMIUM,
    run: [VITEST, "run", "--config", "lab/vitest.config.ts", "--project", "pages"],
  },
  {
    name: "tests",
    group: "Break",
    summary: "Tests of the labs themselves",
    time: "1 min",
    run: [VITEST, "run", "--config", "lab/vitest.config.ts", "--project", "tests"],
  },
  {
    name: "chaos",
    group: "Break",
    summary: "Kills, pauses, and partitions nodes on one PostgreSQL (docs/chaos.md)",
    time: "10 min",
    needs: "PostgreSQL binaries",
    run: ["lab/chaos/main.ts"],
  },
  {
    name: "faults",
    group: "Break",
    summary: "Full disk, foreign locks, failed syncs, clock changes, and lost files under load",
    time: "10 min; file-losses 3 min",
    needs: "Linux, root, gcc, for some scenarios PostgreSQL binaries; file-losses needs nothing",
    run: ["lab/faults/main.ts"],
    subcommands: { "file-losses": ["lab/faults/file-losses.ts"] },
  },
  {
    name: "hostile",
    group: "Break",
    summary: "Attacks, fuzzers, and removed guards (docs/hostile.md)",
    time: "10 min",
    run: ["lab/hostile/main.ts"],
  },
  {
    name: "simulation",
    group: "Break",
    summary: "Nodes with faults in virtual time (docs/simulation.md)",
    time: "1 min per 4,000 seeds",
    run: ["lab/simulation/main.ts"],
  },
  {
    name: "mutation",
    group: "Break",
    summary: "Changes of src/agents/adk and src/engine that no test notices",
    time: "hours; --only FILE minutes",
    run: ["lab/mutation/main.ts"],
  },
  {
    name: "sut",
    group: "Conform",
    summary: "The agent under test of all conformance suites (docs/conformance.md)",
    time: "until stopped",
    run: ["lab/sut/main.ts"],
  },
  {
    name: "tck",
    group: "Conform",
    summary: "Both official TCKs, compared with lab/tck/expected-*.json",
    time: "10 min",
    needs: "--v1.0 PATH and --v0.3 PATH of a2a-tck, Python",
    run: ["lab/tck/main.ts"],
  },
  {
    name: "acts",
    group: "Conform",
    summary: "ACTS on all bindings, compared with lab/acts/expected.json; `--url` tests any server",
    time: "30 s; --broken 1 min; peers 20 min",
    run: ["lab/acts/main.ts"],
    subcommands: { peers: ["lab/acts/peers.ts"] },
  },
  {
    name: "itk",
    group: "Conform",
    summary: "The official ITK with its agents in Python, Go, TypeScript, Java, and Rust",
    time: "25 min",
    needs: "--path PATH of a2a-itk, uv, Python 3.11; Go, npm, Maven, Cargo, and protoc for the peers",
    run: ["lab/itk/main.ts"],
  },
  {
    name: "interop",
    group: "Conform",
    summary: "Other SDKs, ADKs, and frameworks, in both directions (docs/interop.md)",
    time: "20 min",
    needs: "Python, Go, Java; peers that are missing are reported",
    run: ["lab/interop/main.ts"],
  },
  {
    name: "adk-docs",
    group: "Conform",
    summary: "The examples of adk-docs, served and on a bare Runner",
    time: "3 min",
    needs: "--path PATH of adk-docs",
    run: ["lab/adk-docs/main.ts"],
  },
  {
    name: "cli-report",
    group: "Conform",
    summary: "Compliance with the A2A project's CLI specification, by test outcome",
    time: "1 min",
    usesBuild: true,
    run: ["lab/cli-report/main.ts"],
  },
  {
    name: "one-trace",
    group: "Conform",
    summary: "One trace through agents in TypeScript, Python, and Go, and an MCP tool",
    time: "3 min",
    needs: "Python, Go",
    run: ["lab/one-trace/main.ts"],
  },
  {
    name: "runtimes",
    group: "Platforms",
    summary: "Contract suites on Node.js, Bun, Deno, and workerd (docs/runtimes.md)",
    time: "10 min",
    usesBuild: true,
    run: ["lab/runtimes/main.ts"],
  },
  {
    name: "bundlers",
    group: "Platforms",
    summary: "Four bundlers bundle the client and the server within their limits",
    time: "1 min",
    usesBuild: true,
    run: ["lab/bundlers/main.ts"],
  },
  {
    name: "edge-kills",
    group: "Platforms",
    summary: "Kills workerd and resets Durable Objects while agents run in them",
    time: "5 min",
    run: ["lab/edge-kills/main.ts"],
  },
  {
    name: "reloads",
    group: "Platforms",
    summary: "Reloads of chats at random moments, with useChat, AG-UI, and createChat",
    time: "10 min",
    needs: CHROMIUM,
    run: ["lab/reloads/main.ts"],
  },
  {
    name: "peers",
    group: "Platforms",
    summary: "Adapters, hosts, and sessions with real packages of other frameworks: `[NAME …]`",
    time: "8 min",
    run: ["lab/peers/main.ts"],
  },
  {
    name: "examples",
    group: "Platforms",
    summary: "The examples that have their own packages, installed as their pages describe",
    time: "5 min",
    usesBuild: true,
    run: ["lab/examples/main.ts"],
  },
  {
    name: "templates",
    group: "Platforms",
    summary: "Each template of `colloquy init`, and docs/complete-app.md, installed and opened in a browser",
    time: "9 min",
    needs: CHROMIUM,
    run: ["lab/templates/main.ts"],
  },
  {
    name: "regular-expressions",
    group: "Publish",
    summary: "Proves that each regular expression takes linear time",
    time: "25 s",
    run: ["lab/regular-expressions/main.ts"],
  },
  {
    name: "package",
    group: "Publish",
    summary: "Builds the published package; `check` verifies it, `licenses` checks the lock file",
    time: "1 min; check 2 min",
    run: ["lab/package/main.ts"],
    subcommands: { check: ["lab/package/check.ts"], licenses: ["lab/package/licenses.ts"] },
  },
  {
    name: "install-sets",
    group: "Publish",
    summary: "Resolves every set of packages that a page names, with npm 10, npm 11, and pnpm",
    time: "30 min",
    needs: "a package registry",
    run: ["lab/install-sets/main.ts"],
  },
  {
    name: "release",
    group: "Publish",
    summary: "Publishes a version; `change` and `version` keep the change log (RELEASING.md)",
    time: "2 min",
    run: ["lab/release/main.ts"],
    subcommands: {
      change: ["lab/release/changesets.ts", "add"],
      version: ["lab/release/changesets.ts", "version"],
    },
  },
  {
    name: "site",
    group: "Publish",
    summary: "Builds the documentation site; `check` verifies links, sizes, and accessibility",
    time: "1 min; check 2 min",
    needs: `${CHROMIUM} for \`check\``,
    run: ["lab/site/build.ts"],
    subcommands: { check: ["lab/site/check.ts"] },
  },
  {
    name: "pictures",
    group: "Publish",
    summary: "Pictures for the pages: `page FILE`, `console`, and `recording` of README.md",
    time: "1 min",
    needs: CHROMIUM,
    run: ["lab/pictures/console-screenshots.ts"],
    subcommands: {
      console: ["lab/pictures/console-screenshots.ts"],
      page: ["lab/pictures/page-screenshots.ts"],
      recording: ["lab/pictures/terminal-recording.ts"],
    },
  },
];
