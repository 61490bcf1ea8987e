import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { TcpProxy } from "./tcp-proxy.ts";

const NETWORK = "10.213.77";
const FORWARDER = fileURLToPath(new URL("packet-forwarder.ts", import.meta.url));

/**
 * A route to a port of this machine through a network namespace that can drop all packets. The other end of a connection
 * then receives neither data nor acknowledgments, nor an error, as behind a firewall. Requires Linux and root.
 */
export class PacketFilter {
  readonly #namespace = `colloquy-chaos-${process.pid}`;
  #proxy: TcpProxy | undefined;
  #forwarder: ChildProcess | undefined;
  #port = "";

  private constructor() {}

  static async create(targetPort: number): Promise<PacketFilter> {
    const filter = new PacketFilter();
    try {
      await filter.#start(targetPort);
      return filter;
    } catch (error) {
      filter.remove();
      throw error;
    }
  }

  async #start(targetPort: number): Promise<void> {
    const [outside, inside] = [`cq${process.pid}`, `cp${process.pid}`];
    runIp("netns", "add", this.#namespace);
    runIp("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", this.#namespace);
    runIp("addr", "add", `${NETWORK}.1/30`, "dev", outside);
    runIp("link", "set", outside, "up");
    runIp("-n", this.#namespace, "addr", "add", `${NETWORK}.2/30`, "dev", inside);
    runIp("-n", this.#namespace, "link", "set", inside, "up");
    this.#proxy = await TcpProxy.listen(targetPort, { host: `${NETWORK}.1` });
    const command = ["netns", "exec", this.#namespace, process.execPath, FORWARDER];
    const args = [...command, `${NETWORK}.2`, `${NETWORK}.1`, String(this.#proxy.port)];
    this.#forwarder = spawn("ip", args, { stdio: ["pipe", "pipe", "inherit"] });
    if (!this.#forwarder.stdout) throw new Error("the forwarder has no output");
    const [line] = (await once(this.#forwarder.stdout, "data")) as [Buffer];
    this.#port = line.toString().trim();
  }

  /** Returns a URL with the address of the route. */
  toFilteredUrl(url: string): string {
    return Object.assign(new URL(url), { hostname: `${NETWORK}.2`, port: this.#port }).href;
  }

  /** Drops all packets until `passPackets`. */
  dropPackets(): void {
    this.#changePolicy("add", "action", "block");
  }

  passPackets(): void {
    this.#changePolicy("delete");
  }

  remove(): void {
    this.#forwarder?.kill();
    this.#proxy?.close();
    runIp("netns", "delete", this.#namespace);
  }

  #changePolicy(change: "add" | "delete", ...action: string[]): void {
    const selector = ["src", "0.0.0.0/0", "dst", "0.0.0.0/0", "dir", "in"];
    runIp("-n", this.#namespace, "xfrm", "policy", change, ...selector, ...action);
  }
}

function runIp(...args: string[]): void {
  execFileSync("ip", args);
}
