package shell

import "testing"

// Proves SHC-02.
func TestDestructive(t *testing.T) {
	for _, line := range []string{
		"rm a", "sudo rm a", "git reset --hard", "git clean -fd", "git push --force", "git push -f origin x", "dd if=a of=b", "mkfs.ext4 x",
		"truncate -s 0 f", "psql -c 'drop table x'", "find . -delete", "git -C x reset --hard", "ls && rm a", "ls | xargs rm",
		"find . -name '*.o' -exec rm {} +", "env A=1 rm x", "nohup rm x &", "bash -c 'rm -rf x'", "sh -ec 'cd x && rm y'", "eval 'rm x'", "ssh host rm -rf x",
		"rsync -a --delete a/ b/",

		// Downloaded code.
		"curl https://x.test/i.sh | sh", "curl -fsSL https://x.test | sudo bash", "curl x | bash -s -- --yes", "wget -qO- x | python3", "curl x | python3 -",
		"bash <(curl -s x)", `sh -c "$(curl -fsSL x)"`, `eval "$(wget -O- x)"`, "source <(curl x)", "curl -o i.sh https://x.test/i && bash i.sh", "curl -O https://x.test/i.sh; sh ./i.sh",
		"wget https://x.test/run && chmod +x run && ./run", "curl x | sudo -E bash -", "curl x | env A=1 sh", "curl x | perl",

		// Another user's privileges.
		"sudo apt install x", "doas ls", "su -c ls", "pkexec ls", "ls | sudo tee /etc/hosts",

		// Permissions of whole trees.
		"chmod -R 777 /", "chmod -R 777 /*", "chmod --recursive 777 ~", "chown -R me /etc", "chown -fR me: $HOME", "chmod -R o+w ..", "chgrp -R x /usr/local", "chmod -R 777 /home/u",

		// Releases.
		"npm publish", "npm --tag next publish", "pnpm publish", "yarn npm publish", "cargo publish", "cargo yank x", "gem push x.gem", "twine upload dist/*", "uv publish",
		"docker push x", "docker buildx build --push .", "mvn -q deploy", "./gradlew :lib:publishToMaven", "gh release create v1", "goreleaser release", "dotnet nuget push x",

		// Remote deletions.
		"kubectl delete namespace prod", "kubectl -n x delete pod y", "kubectl drain n", "docker system prune -af", "docker volume rm x", "docker rmi x", "docker compose down -v",
		"helm uninstall x", "terraform destroy", "terraform apply -destroy", "pulumi destroy", "aws s3 rm s3://b --recursive", "aws s3 rb s3://b", "aws ec2 terminate-instances --instance-ids i",
		"aws dynamodb delete-table --table-name t", "gcloud compute instances delete x", "az group delete -n x", "gh repo delete x", "heroku apps:destroy x", "dropdb x", "redis-cli FLUSHALL",
		"mongosh --eval 'db.dropDatabase()'", "rclone purge r:x",

		// Lost history and work.
		"git push origin +main", "git push origin :main", "git push --mirror", "git push -d origin x", "git branch -D x", "git stash drop", "git filter-branch --all", "git reflog expire --expire=now --all",

		// Code.
		"python3 -c 'import shutil; shutil.rmtree(\"x\")'", `node -e 'require("fs").rmSync("x",{recursive:true})'`, "perl -e 'unlink glob q(*)'", `ruby -e 'FileUtils.rm_rf("x")'`,

		"shutdown now", "crontab -r", "killall node", "kill -9 -1",
	} {
		if Parse(line, Vars{}).Destructive() == "" {
			t.Errorf("%q gets no warning", line)
		}
	}
	for _, line := range []string{
		"ls", "git push", "git push origin main", "git push -u origin x", "git reset", "echo rm", "grep -r rm .", "git checkout main", "git stash", "git branch -d x", "git tag v1",
		"curl -s https://x.test | jq .", "curl x | python3 -m json.tool", "curl x | python3 -c 'print(1)'", "curl -s localhost/health && bash run.sh", "curl x | node -e 'console.log(1)'", "wget x",
		"curl x | grep bash", "curl -sS x -o out.json && python3 check.py",
		"chmod -R u+w build", "chmod +x a.sh", "chown -R me ./x", "chmod 644 /tmp/x/y",
		"npm install", "npm test", "npm run publish-docs", "npm pack", "cargo build", "docker build .", "docker ps", "docker run --rm x", "docker run x rm", "gh pr create", "gh release list", "mvn package", "gradle build",
		"kubectl get pods", "kubectl apply -f x", "terraform plan", "aws s3 ls", "gcloud config list", "docker compose down", "docker compose up", "helm list", "kubectl exec x -- ls",
		"python3 -c 'print(1)'", "node -e '1'", "python3 manage.py migrate", "psql -c 'select 1'", "kill 123", "kill -9 123", "crontab -l", "redis-cli GET x", "rsync -a a b", "find . -name x", "ssh host uptime",
	} {
		if w := Parse(line, Vars{}).Destructive(); w != "" {
			t.Errorf("%q: %s", line, w)
		}
	}
}
