package interop;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.IOException;
import java.net.ServerSocket;

/** Serves the test agent on a free port, prints its URL, and exits when stdin closes. */
@QuarkusMain
public class Main implements QuarkusApplication {
  /** With {@code --token TOKEN}, the server requires the bearer token. */
  public static void main(String[] arguments) throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      System.setProperty("quarkus.http.port", String.valueOf(socket.getLocalPort()));
    }
    if (arguments.length == 2) System.setProperty("interop.token", arguments[1]);
    Quarkus.run(Main.class, arguments);
  }

  static String getUrl() {
    return "http://127.0.0.1:" + System.getProperty("quarkus.http.port");
  }

  @Override
  public int run(String... arguments) throws IOException {
    System.out.println("{\"url\":\"" + getUrl() + "\"}");
    System.in.readAllBytes();
    return 0;
  }
}
