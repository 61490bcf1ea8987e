package interop;

import io.quarkus.vertx.http.runtime.filters.Filters;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;

/** Answers 401 to requests without the bearer token. The agent card is public. */
@ApplicationScoped
public class BearerTokenFilter {
  static final String TOKEN = System.getProperty("interop.token");

  void register(@Observes Filters filters) {
    if (TOKEN == null) return;
    filters.register(request -> {
      boolean isPublic = request.request().path().startsWith("/.well-known/");
      if (isPublic || ("Bearer " + TOKEN).equals(request.request().getHeader("authorization"))) request.next();
      else request.response().setStatusCode(401).putHeader("WWW-Authenticate", "Bearer").end();
    }, 1000);
  }
}
