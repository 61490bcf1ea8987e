import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { build } from "rolldown";
import type { ModelMessage } from "ai";
import type { ConversationStore } from "../../src/agents/adapters/index.ts";
import { connect } from "../../src/client/index.ts";
import { createServer, type Server, type ServerOptions } from "../../src/server/index.ts";
import { createAgUiHandler } from "../../src/ui/ag-ui/index.ts";
import { createApprovingAgent } from "./approving-agent.ts";

/** The browser library whose page is reloaded. */
export type ReloadPage = (typeof RELOAD_PAGES)[number] | "plain-chat";

/** The pages with a framework, which need the packages of `lab/reloads/package.json`. */
export const RELOAD_PAGES = ["use-chat", "ag-ui", "create-chat"] as const;

const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url));

/** A web server with the two pages, their agent, and the AG-UI endpoint, at one origin. */
export interface ReloadTestServer {
  readonly url: string;
  /** Resolves with the time when the next model call aborts. */
  waitForModelAbort(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Serves the pages. With several stores, each store has a server of its own, and the requests alternate between them, as
 * behind a load balancer.
 */
export async function startReloadTestServer(
  packageFolder: string,
  stores: readonly NonNullable<ServerOptions["store"]>[],
  wordMs: number,
  pages: readonly ReloadPage[] = RELOAD_PAGES,
): Promise<ReloadTestServer> {
  let onModelAbort: ((time: number) => void) | undefined;
  const scripts = new Map<string, string>();
  for (const page of pages) scripts.set(`/${page}.js`, await bundlePage(page, packageFolder));
  const servers: Server[] = [];
  let requestCount = 0;
  const serveRequest = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/agents")) {
      const server = servers[requestCount++ % servers.length];
      return server ? server.fetch(request) : new Response(null, { status: 503 });
    }
    if (pathname === "/run") return handleAgUi(request);
    const script = scripts.get(pathname);
    if (script !== undefined) return new Response(script, { headers: { "content-type": "text/javascript" } });
    const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><body><main></main><script type="module" src="${pathname}.js"></script>`;
    return new Response(html, { headers: { "content-type": "text/html" } });
  };
  let http: ReturnType<typeof serve> | undefined;
  const url = await new Promise<string>((resolve) => {
    http = serve({ fetch: serveRequest, hostname: "127.0.0.1", port: 0 }, ({ port }: AddressInfo) =>
      resolve(`http://127.0.0.1:${port}`),
    );
  });
  // The nodes of a cluster share the conversations of the model.
  const conversations = new Map<string, ModelMessage[]>();
  const conversationStore: ConversationStore<ModelMessage> = {
    load: ({ contextId }) => conversations.get(contextId) ?? [],
    append({ contextId }, messages) {
      conversations.set(contextId, [...(conversations.get(contextId) ?? []), ...messages]);
    },
  };
  for (const store of stores) {
    const agent = createApprovingAgent(wordMs, conversationStore, () => onModelAbort?.(Date.now()));
    servers.push(createServer(agent, { store, basePath: "/agents", observer: false }));
  }
  const handleAgUi = createAgUiHandler(await connect(`${url}/agents`));
  return {
    url,
    waitForModelAbort: () => new Promise((resolve) => (onModelAbort = resolve)),
    async close() {
      http?.close();
      for (const server of servers) await server.close({ graceMs: 0 });
    },
  };
}

async function bundlePage(page: ReloadPage, packageFolder: string): Promise<string> {
  const { exports } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
    exports: Record<string, Record<string, string>>;
  };
  const { output } = await build({
    input: join(repositoryRoot, `lab/reloads/page/${page}-page.js`),
    write: false,
    platform: "browser",
    // The package denies side effects of the files in its folder.
    treeshake: { moduleSideEffects: () => true },
    transform: { define: { "process.env.NODE_ENV": `"production"` } },
    plugins: [
      {
        name: "packages",
        async resolveId(source, importer = "") {
          if (source.startsWith("colloquy/")) {
            const target = exports[`.${source.slice("colloquy".length)}`]?.["default"] ?? "";
            return join(repositoryRoot, target.replace(/^\.\/dist/, "src").replace(/\.js$/, ".ts"));
          }
          // The pages are not in the folder of their packages. A page must contain React only once.
          return /^[@a-z]/.test(source) && /\/lab\/reloads\/page\/|\/src\/ui\/react\//.test(importer)
            ? await this.resolve(source, join(packageFolder, "package.json"), { skipSelf: true })
            : undefined;
        },
      },
    ],
    output: { format: "esm", codeSplitting: false },
  });
  return output[0].code;
}
