<?php
// SabreDAV over a folder, with its partial updates: the plugin and the file system of the package.
// Its library is older than PHP 8.2: what PHP says of that must not stand in answers.
error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('display_errors', 'stderr');
set_time_limit(0);
require_once 'Sabre/autoload.php';

$server = new \Sabre\DAV\Server(new \Sabre\DAV\FSExt\Directory(getenv('SABRE_DATA')));
$server->setBaseUri('/');
$server->addPlugin(new \Sabre\DAV\PartialUpdate\Plugin());
$server->exec();
