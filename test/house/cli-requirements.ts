/**
 * The requirements of the A2A project's CLI specification (`a2a-cli` SPEC 0.2 of 2026-08-17) as data, in our
 * own wording. Test titles cite the ids that they verify without the prefix `A2ACLI_`: `it("… [SEND_001]",
 * …)`. `cli-requirements.test.ts` finds requirements that no test verifies. `npm run lab -- cli-report` reports
 * the test results.
 */
export const CLI_SPEC = { version: "0.2", revision: "2026-08-17", prefix: "A2ACLI_" } as const;

export type CliRequirement = readonly [id: string, tier: 1 | 2 | 3, section: string, text: string];

export const CLI_REQUIREMENTS: readonly CliRequirement[] = [
  [
    "CARD_GET_001",
    1,
    "10.1, 13",
    "card get finds a card by host, URL or file; the card decides the transport",
  ],
  ["SEND_001", 1, "10.2", "send starts an interaction"],
  ["SEND_002", 1, "10.2, 6.5", "send waits; --async answers with the ids at once"],
  [
    "SEND_003",
    1,
    "10.2, 9.2",
    "--stream follows the stream, never hangs without one, and ends well on a message without a task",
  ],
  ["SEND_004", 1, "10.2", "artifacts are shown, every part of them"],
  ["SEND_005", 1, "10.2", "--media-type is of the part before it; it is guessed only where it is not given"],
  ["SEND_006", 1, "10.2", "--text, --file and --data repeat and keep their order; --data - reads stdin"],
  ["TASK_GET_001", 1, "10.3", "task get shows state, artifacts and, when asked, history"],
  ["TASK_CANCEL_001", 1, "10.4", "task cancel cancels, may be repeated, and tells the state"],
  ["INTERACT_001", 1, "8.1", "--context-id goes on with a context"],
  [
    "INTERACT_002",
    1,
    "8.1",
    "--task-id goes on with a task, alone or with its context; a refused id fails, begins nothing and names --debug",
  ],
  ["INTERACT_003", 1, "4.1, 4", "ids of the server are never made up; a context is no chat"],
  ["INTERACT_004", 1, "8.2", "task, context and state are told, with the command that goes on"],
  ["INTERACT_005", 1, "6.3, 4.1, 8.3", "nothing of an interaction is kept between two calls"],
  ["TASK_POLL_001", 1, "9.3", "task get looks once, with --wait until there is nothing to wait for"],
  ["TASK_POLL_002", 1, "9.3", "--poll-interval and --timeout count; nothing spins; an interrupt loses no id"],
  [
    "TASK_POLL_003",
    1,
    "9.1, 9.3",
    "a wait ends at once where the user is waited for; an unspecified state is waited through",
  ],
  ["TASK_POLL_004", 1, "9.3", "a wait that loses its stream goes on by asking"],
  [
    "OUT_001",
    1,
    "11.1, 11.5, 8.2",
    "what is about a task names it; results on stdout, everything else on stderr",
  ],
  [
    "OUT_002",
    1,
    "11.3, B",
    "-o json is one document, the end and not the events, and never becomes lines by itself",
  ],
  ["OUT_003", 1, "11.3, 11.4, B", "-o json --stream is a line per event at once, the end last, an error too"],
  [
    "OUT_004",
    1,
    "11.4, B, D",
    "errors are an envelope with the protocol's name, or one of eight of our own, and a hint",
  ],
  [
    "OUT_005",
    1,
    "11.2, 6.1",
    "text is labelled lines and closed blocks, without control sequences or questions",
  ],
  ["OUT_006", 1, "11.5", "--async answers with the ids"],
  ["EXIT_001", 1, "11.6, D", "0, 1 and 2; 3, 4 and 5 only for what they mean"],
  ["EXIT_002", 1, "6.6, 11.6", "a task that fails or waits is exit code 0 and a warning"],
  [
    "AUTH_001",
    1,
    "12.1",
    "--bearer and --api-key go where the card wants them; --svc-param is something else",
  ],
  ["AUTH_002", 1, "12.1, 6.5", "each credential has a variable, and the help says why that is better"],
  ["AUTH_003", 1, "12.1, 6.5", "--insecure is warned of, more so with credentials"],
  ["AUTH_004", 1, "12.1, 7.2", "no credential in what is printed, --debug or not"],
  ["TX_001", 1, "13.1", "the card's interfaces decide the transport, in their order"],
  ["TX_002", 1, "13.1, 6.5", "the first that is spoken here; --transport repeats, the first is best"],
  ["TX_003", 1, "13.1", "the tenant of the interface is in every request, or in none"],
  ["VER_001", 1, "13.2", "A2A-Version in every request, below 1.0 only if the card offers nothing newer"],
  ["DEFAULT_001", 1, "6.5", "six defaults, each with a flag against it, and the help tells them"],
  [
    "CONFIG_001",
    1,
    "8.3",
    "settings are the user's files, shown by config show; no state of an interaction in them",
  ],
  ["CLI_001", 1, "7.1, 7.2, 6.5", "help, --help and --version; the help has the defaults"],
  ["SKILL_001", 1, "14.1, 14.2", "one skill, short, that sends its reader to the help"],
  ["SKILL_002", 1, "14.3", "the skill is no second specification"],

  ["CARD_GET_002", 2, "10.1", "card get --validate checks the card"],
  ["TASK_LIST_001", 2, "7.1, A", "task list by pages, by state and by context"],
  ["TASK_SUBSCRIBE_001", 2, "7.1, 9.2", "task subscribe follows a task"],
  ["TASK_SUBSCRIBE_002", 2, "9.4, 9.2", "a stream that was cut goes on, from the task as it is"],
  ["AUTH_005", 2, "12.2", "auth login with a device code"],
  ["AUTH_006", 2, "12.2", "auth login with client credentials"],
  ["AUTH_007", 2, "12.2", "tokens are kept safely and sent by themselves"],
  ["TX_004", 2, "13.1", "two transports that can be chosen"],
  ["VER_003", 2, "13.3", "what the card does not offer is not asked for"],
  ["CONFIG_002", 2, "8.3", "flag, environment, local, global, default; config show has the source of each"],
  ["DOWNLOAD_001", 2, "7.1", "task download saves artifacts"],
  ["OUT_007", 2, "7.2", "--debug shows what is on the wire"],
  ["CONFORM_001", 2, "7.1", "conformance checks an agent"],
  ["CLI_002", 2, "7.1", "completion prints a script for a shell"],
  ["PUSH_001", 2, "7.1, A", "task push-config creates, gets, lists and deletes"],

  ["CARD_GET_003", 3, "10.1, 12.4", "card get --extended, with a scheme of the public card"],
  ["AUTH_008", 3, "12.4", "no credential to a card that asks for none"],
  ["CARD_GET_004", 3, "10.1", "signatures: verified, not verifiable or none is told, and none is no failure"],
  ["CARD_GET_005", 3, "10.1", "a catalog's entry in place of an agent"],
  ["PUSH_002", 3, "9.2", "a webhook receiver"],
  ["CHAT_001", 3, "8.1, 7.1", "chat carries context and task from line to line"],
  ["TX_005", 3, "13.1", "gRPC"],
  ["AUTH_009", 3, "12.3", "mutual TLS"],
  ["AUTH_010", 3, "12.3", "OpenID Connect"],
  ["AUTH_011", 3, "12.3", "AUTH_REQUIRED within a task"],
  ["DEMO_SERVER_001", 3, "7.1, 3", "a demo agent to practise with"],
  ["VER_002", 3, "13.3", "extensions that the agent requires are declared"],
];

/** The rows of `DEFAULT_001`. Test titles name them, as in `default "wait" …`. */
export const CLI_DEFAULTS: Readonly<Record<string, string>> = {
  transport: "transport_server_preference_order",
  wait: "task_completion_wait",
  text: "output_text",
  concise: "detail_concise",
  version: "protocol_version_highest_mutual",
  tls: "transport_security_tls_verification",
};

/** The local errors of appendix D. Test titles name them. */
export const CLI_ERRORS: readonly string[] = [
  "A2ACLI_ERR_USAGE",
  "A2ACLI_ERR_CARD_NOT_FOUND",
  "A2ACLI_ERR_CARD_INVALID",
  "A2ACLI_ERR_UNREACHABLE",
  "A2ACLI_ERR_CREDENTIALS_MISSING",
  "A2ACLI_ERR_AUTH_FAILED",
  "A2ACLI_ERR_TIMEOUT",
  "A2ACLI_ERR_INTERNAL",
];
