// The settings of both Node-REDs. compose.yaml gives them their environment variables.
module.exports = {
  credentialSecret: process.env.CREDENTIAL_SECRET,
  // Below a path of its own, because nginx sends the editor to one Node-RED and everything else to both.
  httpAdminRoot: '/admin',
};
