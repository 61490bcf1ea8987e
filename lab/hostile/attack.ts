import type { Agent } from "../../src/engine/index.ts";
import type { ListenOptions, ServerOptions } from "../../src/server/index.ts";

/**
 * Attacks of `npm run lab -- hostile`. Each file in `attacks/` exports one attack as `attack`, which `defineServerAttack`,
 * `defineClientAttack`, or `defineBoundaryAttack` returns. The runner imports the file in every process that takes
 * part. A file must therefore not start anything when it is imported.
 */
export type Attack = ServerAttack | ClientAttack | BoundaryAttack;

/** What an attack found out. The runner adds the growth of memory and the stalls that it measures. */
export interface AttackReport {
  /** Measured values by name, each with its unit in the name, such as `heldSockets` or `firstReplyMs`. */
  readonly figures?: Readonly<Record<string, number>>;
  /**
   * Statements that describe how the defence failed, such as "the stranger canceled the task". A problem fails the
   * run.
   */
  readonly problems?: readonly string[];
}

/** Limits of the damage that an attack may cause. */
export interface AttackBars {
  /** Maximum growth of the resident memory of the attacked process, in MiB. Default: 100. */
  readonly rssGrowthMiB: number;
  /**
   * Maximum time in milliseconds by which an attack delays a small request of another caller, compared with the same
   * request to an idle server at the same time. For a client attack, the maximum stall of the event loop of the
   * client. Default: 100.
   */
  readonly stallMs: number;
  /**
   * Maximum ratio of the 99th percentile of another caller's latency to the same percentile of the same requests to an
   * idle server at the same time. Default: no maximum.
   */
  readonly p99Ratio: number;
}

export const DEFAULT_ATTACK_BARS: AttackBars = { rssGrowthMiB: 100, stallMs: 100, p99Ratio: Infinity };

/** An attack on a server, which runs in a process of its own. */
export interface ServerAttack {
  readonly kind: "server";
  /** The attack as a statement, such as "120 sockets never read a task of 9.5 MB". */
  readonly title: string;
  /**
   * Returns the agents and options of the attacked server. The function runs in the process of the server. The result
   * is merged with `attacked-server.ts`, whose agents are `echo`, `large`, `slow`, `stream`, and `ask`.
   */
  readonly setUpServer?: () => AttackedServerSetup | Promise<AttackedServerSetup>;
  /** Prepares the attack, for example creates the task that the attack reads. Memory and stalls do not count yet. */
  readonly prepare?: (target: AttackTarget) => Promise<void>;
  /**
   * Attacks the server, and resolves when the attack has had its effect: connections that the attack opened stay open
   * until the runner ends the process of the attacker. At most 15 seconds (`target.signal`).
   */
  readonly run: (target: AttackTarget) => Promise<AttackReport>;
  /** Bars that differ from the default. Each difference needs a comment with the reason. */
  readonly bars?: Partial<AttackBars>;
  /** Request that the other caller sends all the time. Default: a SendMessage to `echo`. */
  readonly probe?: ProbeRequest;
}

/** Agents, options, and listeners of an attacked server. */
export interface AttackedServerSetup {
  readonly agents?: Readonly<Record<string, Agent>>;
  readonly options?: ServerOptions;
  readonly listen?: ListenOptions;
}

/** A small request that another caller sends all the time. */
export interface ProbeRequest {
  readonly method: "GET" | "POST";
  /** Path below the origin of the server. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The attacked server, as the attacker sees it. */
export interface AttackTarget {
  /** Origin of the server, such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  /** The gRPC listener, if `setUpServer` sets `listen.grpc`. */
  readonly grpc?: { readonly host: string; readonly port: number };
  /** URLs of the agents by agent id. */
  readonly agentUrls: Readonly<Record<string, string>>;
  /** Values of the Authorization header. */
  readonly credentials: AttackCredentials;
  /**
   * Addresses of this machine that differ from the address of the other callers (127.0.0.1). Pass one as `localAddress`
   * of a socket, so that the server sees the attacker at an address of its own.
   */
  readonly attackerAddresses: readonly string[];
  /** Returns pseudo-random numbers from 0 to 1 that depend only on the seed of the run. */
  readonly random: () => number;
  /** Aborted when the attack must end. */
  readonly signal: AbortSignal;
  /** Process id of the server. */
  readonly serverProcessId: number;
}

/** Values of the Authorization header. */
export interface AttackCredentials {
  /** The caller that the attack must not harm. The probe client uses these credentials. */
  readonly victim: string;
  /** Another caller, who is authenticated and unkind. */
  readonly stranger: string;
  /** Well-formed credentials that the server rejects. */
  readonly wrong: string;
}

/** An attack of a hostile server on our client, which runs in a process of its own. */
export interface ClientAttack {
  readonly kind: "client";
  readonly title: string;
  /** Starts the hostile server in the process of the attacker. */
  readonly startHostileServer: () => Promise<HostileServer>;
  /**
   * Calls the hostile server with our client, in the process of the victim. Must resolve within `maxSeconds`, because
   * a client that hangs is a problem. Errors that the client throws by design are no problem: catch them.
   */
  readonly runVictim: (url: string) => Promise<AttackReport>;
  /** Maximum duration of `runVictim`, in seconds. Default: 15. */
  readonly maxSeconds?: number;
  readonly bars?: Partial<AttackBars>;
}

export interface HostileServer {
  readonly url: string;
}

/** An attack whose success is an event, and not a measured value: a leaked secret, a canceled task. */
export interface BoundaryAttack {
  readonly kind: "boundary";
  readonly title: string;
  /** Attacks in a process of its own, and reports each success of the attack as a problem. At most 60 seconds. */
  readonly run: () => Promise<AttackReport>;
}

export function defineServerAttack(attack: Omit<ServerAttack, "kind">): ServerAttack {
  return { kind: "server", ...attack };
}

export function defineClientAttack(attack: Omit<ClientAttack, "kind">): ClientAttack {
  return { kind: "client", ...attack };
}

export function defineBoundaryAttack(attack: Omit<BoundaryAttack, "kind">): BoundaryAttack {
  return { kind: "boundary", ...attack };
}
