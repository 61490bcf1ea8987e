/** Forwards the connections of an address to a port of another address. Prints its own port, and ends with its stdin. */
import { TcpProxy } from "./tcp-proxy.ts";

const [host = "", targetHost = "", targetPort = ""] = process.argv.slice(2);
const proxy = await TcpProxy.listen(Number(targetPort), { host, targetHost });
process.stdin.on("end", () => process.exit(0)).resume();
console.log(proxy.port);
