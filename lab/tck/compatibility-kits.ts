/** A run of a test kit: the flags for the agent under test, and the pytest selection. */
export interface KitRun {
  /** The name that the list of expected failures uses. */
  readonly name: string;
  readonly description: string;
  readonly sutFlags: readonly string[];
  getPytestArguments(url: string, folder: string): readonly string[];
}

/** A compatibility kit of the A2A project. */
export interface CompatibilityKit {
  /** The protocol version under test. The flag for the kit's path has the same name. */
  readonly version: "1.0" | "0.3";
  readonly branch: string;
  /** Commit for which the expected failures were recorded. */
  readonly commit: string;
  /** A folder that exists only in this kit. */
  readonly testFolder: string;
  /** Python modules that the kit requires. */
  readonly pythonModules: string;
  readonly runs: readonly KitRun[];
}

interface V1KitRunSettings {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly string[];
  /** Format of the card that the kit reads, because the kit sends no version. Default: `v1`. */
  readonly cardFormat?: "v1" | "hybrid";
  readonly pytestFilter?: readonly string[];
}

/** The kit for 1.0 was written for revision 1.0.0, so its differences from 1.0.1 are expected failures. */
const V1_KIT_RUNS: readonly V1KitRunSettings[] = [
  { name: "1.0.0", description: "revision 1.0.0, all bindings", flags: ["--spec-revision", "1.0.0"] },
  { name: "1.0.1", description: "revision 1.0.1, all bindings", flags: ["--spec-revision", "1.0.1"] },
  {
    name: "defaults",
    description: "revision 1.0.1 and the hybrid card, as `npm run lab -- sut` starts the agent",
    flags: [],
    cardFormat: "hybrid",
  },
  {
    name: "reduced",
    description: "an agent that neither streams nor pushes",
    flags: ["--spec-revision", "1.0.0", "--no-streaming", "--no-push"],
  },
  {
    name: "executor",
    description: "an AgentExecutor of a2a-js, unchanged on our engine",
    flags: ["--spec-revision", "1.0.0", "--executor"],
  },
  {
    name: "extension",
    description: "an agent that requires an extension",
    flags: ["--spec-revision", "1.0.0", "--required-ext"],
    // All other tests omit the extension and would be rejected.
    pytestFilter: ["-k", "TestCapabilityExtensionRequired"],
  },
];

const v1CompatibilityKit: CompatibilityKit = {
  version: "1.0",
  branch: "1.0-dev",
  commit: "357c4a87afa2818731590647cccbea31c31733a2",
  testFolder: "tests/compatibility",
  pythonModules: "pytest, httpx, grpc, jsonschema, jinja2, gherkin",
  runs: V1_KIT_RUNS.map(({ name, description, flags, cardFormat = "v1", pytestFilter = [] }) => ({
    name,
    description: description,
    sutFlags: ["--card", cardFormat, ...flags],
    getPytestArguments: (url, folder) => [
      "tests/compatibility",
      ...pytestFilter,
      `--sut-host=${url}`,
      "--webhook-host=localhost",
      `--compatibility-report=${folder}/compatibility`,
    ],
  })),
};

/**
 * The test selections of the kit's own run_tck.py: the mandatory tests for each transport. Tests of JSON-RPC
 * itself run only over JSON-RPC.
 */
const V03_MANDATORY_TESTS_BY_TRANSPORT = {
  jsonrpc: ["tests/mandatory/", "-m", "mandatory_jsonrpc or mandatory_protocol"],
  rest: ["tests/mandatory/protocol/", "-m", "mandatory_protocol"],
  grpc: ["tests/mandatory/protocol/", "-m", "mandatory_protocol"],
};

const v03CompatibilityKit: CompatibilityKit = {
  version: "0.3",
  branch: "0.3.x",
  commit: "eb1f804c27ea25db8805264d9ed2d7ca077a7776",
  testFolder: "tests/mandatory",
  pythonModules:
    "pytest, pytest_asyncio, httpx, grpc, grpc_tools, requests, responses, deepdiff, jsonschema, dotenv, yaml, OpenSSL",
  runs: Object.entries(V03_MANDATORY_TESTS_BY_TRANSPORT).flatMap(([transport, mandatory]) =>
    [
      { category: "mandatory", tests: mandatory },
      { category: "capabilities", tests: ["tests/optional/capabilities/"] },
    ].map(({ category, tests }) => ({
      name: `${category} ${transport}`,
      description: `${category} tests over ${transport}`,
      sutFlags: ["--card", "v0.3"],
      getPytestArguments: (url: string) => [
        ...tests,
        `--sut-url=${url}/a2a/sut`,
        "--test-scope=all",
        `--transports=${transport}`,
      ],
    })),
  ),
};

export const COMPATIBILITY_KITS: readonly CompatibilityKit[] = [v1CompatibilityKit, v03CompatibilityKit];
