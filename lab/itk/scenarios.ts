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

/** The reference agents of the ITK that need only Python and Go, and the transports that each supports. */
const ITK_PEERS: readonly { readonly sdk: string; readonly transports: readonly string[] }[] = [
  { sdk: "python_v10", transports: ITK_TRANSPORTS },
  { sdk: "go_v10", transports: ITK_TRANSPORTS },
  { sdk: "python_v03", transports: ITK_TRANSPORTS },
  // The Go SDK for 0.3 has no HTTP+JSON transport.
  { sdk: "go_v03", transports: ["jsonrpc", "grpc"] },
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
