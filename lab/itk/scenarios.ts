/** A scenario in the JSON of the ITK's service (`TestCase` in its itk_service.py). */
export interface ItkScenario {
  readonly name: string;
  /** The agents of the scenario. `current` is the agent under test. */
  readonly sdks: readonly string[];
  /** Calls between the agents, by index in `sdks`, such as `0->1`. */
  readonly edges: readonly string[];
  readonly protocols: readonly string[];
  readonly behavior: "send_message" | "push_notification" | "resubscribe";
  readonly streaming: boolean;
}

const ITK_TRANSPORTS = ["jsonrpc", "grpc", "http_json"];

/** A reference agent of the ITK, and the transports that it supports. */
interface ItkPeer {
  readonly sdk: string;
  /** Folder of the agent in the kit. */
  readonly folder: string;
  readonly transports: readonly string[];
  /** Command that builds the agent. Python agents have their packages instead. */
  readonly build?: readonly [program: string, ...args: string[]];
}

const GO_BUILD = ["go", "build", "-o", "/dev/null", "."] as const;
// The agents run without their development dependencies, which generate the committed code.
const NPM_INSTALL = ["npm", "install", "--omit=dev", "--no-audit", "--no-fund", "--silent"] as const;

export const ITK_PEERS: readonly ItkPeer[] = [
  { sdk: "python_v10", folder: "agents/python/v10", transports: ITK_TRANSPORTS },
  { sdk: "go_v10", folder: "agents/go/v10", transports: ITK_TRANSPORTS, build: GO_BUILD },
  { sdk: "ts_v10", folder: "agents/ts/v10", transports: ITK_TRANSPORTS, build: NPM_INSTALL },
  {
    sdk: "java_v10",
    folder: "agents/java/v10",
    transports: ITK_TRANSPORTS,
    build: ["mvn", "-q", "-B", "package", "-DskipTests"],
  },
  // The agent in Rust serves no HTTP+JSON.
  {
    sdk: "rust_v10",
    folder: "agents/rust/v10",
    transports: ["jsonrpc", "grpc"],
    build: ["cargo", "build", "--release"],
  },
  { sdk: "python_v03", folder: "agents/python/v03", transports: ITK_TRANSPORTS },
  // The Go SDK for 0.3 has no HTTP+JSON transport.
  { sdk: "go_v03", folder: "agents/go/v03", transports: ["jsonrpc", "grpc"], build: GO_BUILD },
  { sdk: "ts_v03", folder: "agents/ts/v03", transports: ITK_TRANSPORTS, build: NPM_INSTALL },
];

const ITK_BEHAVIORS: readonly Pick<ItkScenario, "behavior" | "streaming">[] = [
  { behavior: "send_message", streaming: false },
  { behavior: "send_message", streaming: true },
  { behavior: "push_notification", streaming: false },
  { behavior: "resubscribe", streaming: true },
];

/**
 * All scenarios: each peer, transport, and behavior once. In each scenario the agent under test calls the
 * peer, which calls the agent under test back, so that each is client and server once.
 */
export const ITK_SCENARIOS: readonly ItkScenario[] = ITK_PEERS.flatMap(({ sdk, transports }) =>
  transports.flatMap((transport) =>
    ITK_BEHAVIORS.map(({ behavior, streaming }) => ({
      name: `${sdk} ${transport} ${behavior === "send_message" && streaming ? "stream" : behavior}`,
      sdks: ["current", sdk],
      edges: ["0->1", "1->0"],
      protocols: [transport],
      behavior,
      streaming,
    })),
  ),
);
