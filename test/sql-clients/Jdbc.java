import java.net.URI;
import java.sql.DriverManager;

/** Reads the index with JDBC, by the URL that `kasgres analysts create` printed, and prints the result. */
public class Jdbc {
  public static void main(String[] arguments) throws Exception {
    URI uri = URI.create(arguments[0]);
    String[] login = uri.getUserInfo().split(":");
    String url = "jdbc:postgresql://" + uri.getHost() + ":" + uri.getPort() + uri.getPath();
    try (var connection = DriverManager.getConnection(url, login[0], login[1]);
        var result = connection.createStatement().executeQuery("select 6 * 7, current_schema()")) {
      result.next();
      System.out.println(result.getString(1) + " " + result.getString(2));
    }
  }
}
