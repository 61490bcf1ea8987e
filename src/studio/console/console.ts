import { randomBytes } from "node:crypto";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { type CardTrustOptions, createCardVerifier } from "../../client/index.ts";
import type { MountedHandler } from "../../server/index.ts";
import { CONSOLE_CALLER, type ModelPrices, priceTrafficLineText } from "../../observe/trace/index.ts";
import type { TrafficWriter } from "../../observe/trace/recording/index.ts";
import type { AgentReloadNotice, ConsoleSession } from "../console-api/index.ts";
import { type ConsolePage, findPageResponse } from "./console-page.ts";
import { createEmptyResponse, createErrorResponse } from "./console-response.ts";
import { routeConsoleRequest } from "./console-routes.ts";
import {
  assertOriginOfConsolePage,
  assertRequestOfConsolePage,
  authenticateConsoleUser,
  type ConsoleUser,
  isLaunchToken,
  type RequestAuthentication,
} from "./console-user.ts";
import { PageSessions } from "./page-sessions.ts";
import { PushReceiver } from "./push-receiver.ts";
import { readEarlierLines, removeStack } from "./earlier-lines.ts";
import { loadRecordedAgents, type RecordedAgents } from "./recorded-agents.ts";
import { ReloadNotices } from "./reload-notices.ts";
import { RemoteAgentRegistry } from "./remote-agent-registry.ts";
import { ServerLines } from "./server-lines.ts";
import { signIn } from "./sign-in.ts";
import { createUserAgents } from "./user-agents.ts";
import { Workspace } from "./workspace.ts";
import { type OpenWorkspace, WorkspaceRegistry } from "./workspace-registry.ts";

/** Options for `createConsole`. */
export interface ConsoleOptions {
  /** Loads the page of the console. The first request for the page calls the function. Default: the page of Colloquy. */
  readonly loadPage?: () => Promise<ConsolePage>;
  /** What the user has started. Default: `serve`. */
  readonly mode?: ConsoleSession["mode"];
  /** Name for the title of the page. Default: `Colloquy`. */
  readonly name?: string;
  /** Version of Colloquy. Default: an empty string. */
  readonly version?: string;
  /**
   * Token that anonymous users send as a bearer token. Create a new token for each start. Without a token, only
   * operators and authenticated callers of the server may use the API.
   */
  readonly token?: string;
  /**
   * Secret that encrypts and signs the sessions of pages. With a stored secret, pages stay signed in after a restart.
   * Default: a new random secret.
   */
  readonly sessionSecret?: string;
  /** URLs of remote agents that every user sees. Default: none. */
  readonly agentUrls?: readonly string[];
  /** Paths of traffic records that every user sees. Default: none. */
  readonly recordFiles?: readonly string[];
  /**
   * Private hosts that users may add agents from, or `true` for all hosts. Default: false, so that users cannot reach
   * the private network of the server.
   */
  readonly allowPrivate?: boolean | readonly string[];
  /**
   * Keys that are trusted to sign agent cards. The reports of agents show whether a trusted key has signed the card.
   * Default: no trusted keys.
   */
  readonly cardTrust?: CardTrustOptions;
  /** The record of the server that mounts the console, so that pages show the requests of all clients. Default: none. */
  readonly serverRecord?: TrafficWriter;
  /**
   * File of `serverRecord`. Operators and users with the launch token see the newest 16 MiB of its lines, also after a
   * restart. Default: users see the lines since their first request.
   */
  readonly serverRecordFile?: string;
  /** Prices of language models, from which the console computes the costs of tasks. Default: none. */
  readonly prices?: ModelPrices;
  /** Maximum length of the observed lines of one user in characters. Default: 16,777,216. */
  readonly maxJournalLength?: number;
}

const assertKnownOptions = defineOptionNames<ConsoleOptions>()(
  "createConsole",
  "agentUrls allowPrivate cardTrust loadPage maxJournalLength mode name prices recordFiles serverRecord serverRecordFile sessionSecret token version",
);

/** A console that a server mounts at `/console/`. */
export interface Console extends MountedHandler {
  /** Tells the pages of the user of this machine, and of operators, that an agent was loaded again or cannot be loaded. */
  reportReload(notice: AgentReloadNotice): void;
  /** Ends all streams of the console. */
  close(): void;
}

const CONSOLE_PATH = "/console/";

/**
 * Creates a console for the agents of a server, remote agents, and records. Pass it to `mountedHandlers` of
 * `createServer`. The page itself is public. The API requires the launch token, the credentials of a caller, or the
 * credentials of an operator.
 */
export function createConsole(options: ConsoleOptions = {}): Console {
  assertKnownOptions(options);
  const {
    mode = "serve",
    name = "Colloquy",
    version = "",
    token,
    agentUrls = [],
    recordFiles = [],
  } = options;
  const { allowPrivate = false, serverRecord, serverRecordFile, maxJournalLength, prices } = options;
  const verifyWithTrustedKeys = options.cardTrust && createCardVerifier(options.cardTrust);
  const ownNames = new Map<string, string>();
  const rules = { startUrls: agentUrls, allowPrivate, verifyWithTrustedKeys, ownNames };
  const workspaces = new WorkspaceRegistry((): OpenWorkspace => {
    const workspace = new Workspace(CONSOLE_CALLER, version, maxJournalLength);
    workspace.observe(serverLines.header);
    return { workspace, remotes: new RemoteAgentRegistry(workspace, rules) };
  });
  const serverLines = new ServerLines(name, version, { serverRecord, ownNames }, (lineText, owner) => {
    const shownText = mode === "dev" ? lineText : removeStack(lineText);
    const text = prices ? priceTrafficLineText(shownText, prices) : shownText;
    for (const { workspace, user } of workspaces.list()) {
      if (user && mayUserSeeLine(user, owner)) workspace.observe(text);
    }
  });
  const sessions = new PageSessions(options.sessionSecret ?? randomBytes(32).toString("base64url"));
  const push = new PushReceiver();
  const notices = new ReloadNotices();
  let page: Promise<ConsolePage> | undefined;
  let records: Promise<RecordedAgents> | undefined;

  async function respondToApi(
    path: string,
    request: Request,
    authentication: RequestAuthentication,
  ): Promise<Response> {
    assertRequestOfConsolePage(request);
    const url = new URL(request.url);
    const publicUrl = url.origin + url.pathname.slice(0, url.pathname.lastIndexOf(CONSOLE_PATH));
    const pageUrl = new URL(publicUrl + CONSOLE_PATH);
    if (path === "sign-in" && request.method === "POST")
      return await signIn(request, { token, sessions, pageUrl, publicUrl }, authentication);
    if (path === "sign-out" && request.method === "POST") {
      const response = createEmptyResponse();
      response.headers.set("set-cookie", sessions.formatRemoval(pageUrl));
      return response;
    }
    const pageSession = sessions.find(pageUrl, request, Date.now());
    if (pageSession) assertOriginOfConsolePage(request, url);
    const bearer = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
    const credentials = pageSession?.credentials;
    const hasLaunchToken = pageSession ? credentials === undefined : isLaunchToken(bearer ?? "", token);
    const user = await authenticateConsoleUser({ publicUrl, hasLaunchToken, credentials }, authentication);
    const opened = workspaces.open(user.key);
    const { workspace, remotes } = opened;
    opened.user = user;
    if (serverRecord && serverRecordFile !== undefined && user.seesUnownedLines)
      await workspace.loadEarlierLines(() =>
        readEarlierLines(serverRecord, serverRecordFile, prices, mode === "dev"),
      );
    records ??= loadRecordedAgents(recordFiles, { prices, verifyWithTrustedKeys });
    const { server } = user;
    const loadedRecords = await records;
    const agents = createUserAgents({
      workspace,
      server,
      remotes,
      records: loadedRecords,
      ownNames,
      verifyWithTrustedKeys,
    });
    const canAct = mode !== "file";
    const session: ConsoleSession = {
      mode,
      name,
      version,
      canAct,
      isOperator: server.isOperator,
      canSignOut: credentials !== undefined,
      features: {
        addsAgents: canAct,
        acceptsCredentials: canAct,
        receivesPush: canAct,
        searchesText: server.searchesText,
      },
    };
    return await routeConsoleRequest(path, {
      request,
      url,
      user,
      workspace,
      session,
      agents,
      recordJournal: loadedRecords.journal,
      push,
      notices,
      consoleUrl: `${publicUrl}/console`,
    });
  }

  async function respond(request: Request, authentication: RequestAuthentication): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const at = pathname.lastIndexOf(CONSOLE_PATH);
    if (at < 0) {
      if (!pathname.endsWith("/console")) return createNotFoundResponse();
      // A relative URL, because a path such as `//evil.example` would be the URL of another host.
      return new Response(null, { status: 308, headers: { location: `console/${search}` } });
    }
    const path = pathname.slice(at + CONSOLE_PATH.length);
    if (path.startsWith("hooks/")) return await push.receive(path.slice("hooks/".length), request);
    if (path.startsWith("api/"))
      return await respondToApi(path.slice("api/".length), request, authentication);
    page ??= options.loadPage?.() ?? loadConsolePage(name);
    return findPageResponse(await page, path, request) ?? createNotFoundResponse();
  }

  return {
    observer: serverLines.observer,
    onOtherNodeEvent: (seen) => serverLines.observer.onEvent?.(seen),
    matchesPath: (path) => path === "/console" || path.startsWith(CONSOLE_PATH),
    handle: async (request, createCallerContext, findOperatorAccess) => {
      try {
        return await respond(request, { createCallerContext, findOperatorAccess });
      } catch (error) {
        return createErrorResponse(error);
      }
    },
    reportReload: (notice) => {
      notices.add(notice);
      for (const { workspace } of workspaces.list()) workspace.journal.wakeReaders();
    },
    close: () => {
      serverLines.close();
      workspaces.close();
    },
  };
}

function createNotFoundResponse(): Response {
  return new Response("Not found", { status: 404 });
}

function mayUserSeeLine({ visibleOwner, seesUnownedLines }: ConsoleUser, owner: string | undefined): boolean {
  if (owner === undefined) return seesUnownedLines;
  return visibleOwner === undefined || visibleOwner === owner;
}

/** Loads the page of the console, which is large, with the first request for the page. */
async function loadConsolePage(title: string): Promise<ConsolePage> {
  const { renderServedPage } = await import("../pages/index.ts");
  return renderServedPage(title);
}
