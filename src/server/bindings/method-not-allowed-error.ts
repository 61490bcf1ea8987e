import { A2AError } from "../../protocol/index.ts";
import type { HttpRequest } from "../http-exchange.ts";

/**
 * Error for a request whose HTTP method is not allowed. The header `Allow` of the error reply lists the
 * allowed HTTP methods.
 */
export class MethodNotAllowedError extends A2AError {
  readonly allowedMethods: readonly string[];

  constructor({ path, method }: HttpRequest, allowedMethods: readonly string[]) {
    super("METHOD_NOT_ALLOWED", `${path} does not accept ${method}; use ${allowedMethods.join(" or ")}.`);
    this.allowedMethods = allowedMethods;
  }
}

export function assertHttpMethodAllowed(request: HttpRequest, allowedMethods: readonly string[]): void {
  if (!allowedMethods.includes(request.method)) throw new MethodNotAllowedError(request, allowedMethods);
}
