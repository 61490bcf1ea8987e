/** One kind of run of a kit: how the agent under test is started, and what pytest is asked for. */
export interface Run {
  /** As the expected failures name it. */
  readonly name: string;
  readonly about: string;
  readonly sut: readonly string[];
  pytest(url: string, folder: string): readonly string[];
}

/** A compatibility kit of the A2A project. */
export interface Kit {
  /** The protocol version that it tests, and the flag that names its place. */
  readonly version: "1.0" | "0.3";
  readonly branch: string;
  /** A folder that only this kit has. */
  readonly tests: string;
  /** Python modules that it needs. */
  readonly needs: string;
  readonly install: string;
  readonly runs: readonly Run[];
}

interface V1Run {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly string[];
  readonly select?: readonly string[];
}

/** The kit for 1.0 was written for 1.0.0; what it then has against 1.0.1 is expected. */
const V1_RUNS: readonly V1Run[] = [
  { name: "1.0.0", about: "revision 1.0.0, all bindings", flags: ["--spec-revision", "1.0.0"] },
  { name: "1.0.1", about: "revision 1.0.1, all bindings", flags: ["--spec-revision", "1.0.1"] },
  {
    name: "reduced",
    about: "an agent that neither streams nor pushes",
    flags: ["--spec-revision", "1.0.0", "--no-streaming", "--no-push"],
  },
  {
    name: "executor",
    about: "an AgentExecutor of a2a-js, unchanged on our engine",
    flags: ["--spec-revision", "1.0.0", "--executor"],
  },
  {
    name: "extension",
    about: "an agent that requires an extension",
    flags: ["--spec-revision", "1.0.0", "--required-ext"],
    // All other tests ask without it, and are refused.
    select: ["-k", "TestCapabilityExtensionRequired"],
  },
];

const forV1: Kit = {
  version: "1.0",
  branch: "1.0-dev",
  tests: "tests/compatibility",
  needs: "pytest, httpx, grpc, jsonschema, jinja2, gherkin",
  install: "-e .",
  runs: V1_RUNS.map(({ name, about, flags, select = [] }) => ({
    name,
    about,
    sut: ["--card", "v1", ...flags],
    pytest: (url, folder) => [
      "tests/compatibility",
      ...select,
      `--sut-host=${url}`,
      "--webhook-host=localhost",
      `--compatibility-report=${folder}/compatibility`,
    ],
  })),
};

/** The selections of the kit's own run_tck.py: mandatory tests by transport, those of JSON-RPC itself only over JSON-RPC. */
const MANDATORY = {
  jsonrpc: ["tests/mandatory/", "-m", "mandatory_jsonrpc or mandatory_protocol"],
  rest: ["tests/mandatory/protocol/", "-m", "mandatory_protocol"],
  grpc: ["tests/mandatory/protocol/", "-m", "mandatory_protocol"],
};

const forV03: Kit = {
  version: "0.3",
  branch: "0.3.x",
  tests: "tests/mandatory",
  needs:
    "pytest, pytest_asyncio, httpx, grpc, grpc_tools, requests, responses, deepdiff, jsonschema, dotenv, yaml, OpenSSL",
  install: "-r requirements.txt",
  runs: Object.entries(MANDATORY).flatMap(([transport, mandatory]) =>
    [
      { category: "mandatory", tests: mandatory },
      { category: "capabilities", tests: ["tests/optional/capabilities/"] },
    ].map(({ category, tests }) => ({
      name: `${category} ${transport}`,
      about: `${category} tests over ${transport}`,
      sut: ["--card", "v0.3"],
      pytest: (url: string) => [
        ...tests,
        `--sut-url=${url}/a2a/sut`,
        "--test-scope=all",
        `--transports=${transport}`,
      ],
    })),
  ),
};

export const KITS: readonly Kit[] = [forV1, forV03];
