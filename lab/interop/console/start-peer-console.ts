import { createMountedConsole } from "../../../src/cli/serve/serve-console.ts";
import { createServer } from "../../../src/server/index.ts";

/** A console without agents, as `colloquy console` serves it. */
export interface PeerConsole {
  /** URL of the page with its token. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a console to which a scenario adds the server of a peer. */
export async function startPeerConsole(): Promise<PeerConsole> {
  const { console, serverOptions, renderUrl } = createMountedConsole({
    mode: "console",
    name: "interop",
    host: "127.0.0.1",
    publicUrl: undefined,
    isAuthenticated: false,
  });
  const server = createServer({}, { ...serverOptions, store: "memory" });
  const { url } = await server.listen();
  return {
    url: renderUrl(url),
    close: async () => {
      console.close();
      await server.close({ graceMs: 0 });
    },
  };
}
